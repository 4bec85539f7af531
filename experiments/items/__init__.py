"""One module for every experiment."""
