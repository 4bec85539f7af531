"""A search as a run: its directory, checkpoints, resume, stopping, and how far it is."""
