"""Every table and figure of the papers, made again: `python -m experiments --list`."""
