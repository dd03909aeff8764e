"""The cpu device in processes of Python: each process runs kernels of CUDA C++ on its own processors.

No session belongs to it. A process opens the emulated device as a shared object (`device`), maps
memory that it shares with other processes (`memory`), and launches kernels that a companion process
has compiled (`companion`). `symmrepl.torch` builds PyTorch's symmetric memory on it; this package
does not need PyTorch.
"""
