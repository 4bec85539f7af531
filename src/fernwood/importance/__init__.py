"""How much every column of a draw mattered to what was fitted on it."""
