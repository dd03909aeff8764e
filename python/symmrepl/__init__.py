"""symmrepl: one prompt for N GPUs. The command ``symmrepl`` is the program that this package carries."""

__version__ = "0.1.0"
