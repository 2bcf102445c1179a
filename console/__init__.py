"""The Ascend pilot console: from a bare host to an accepted pilot."""

__version__ = "0.1.0"
