"""The version of Fernwood, where rooms can read it without importing the package's face."""

__all__ = ["__version__"]

__version__ = "0.1.0"
