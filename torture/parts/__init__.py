"""One module each: a `PART` that is run by its name."""
