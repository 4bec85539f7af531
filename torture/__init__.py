"""Long tests: faults, kills, hostile input and long runs, at the size that continuous integration has no time for."""
