"""Kernels on a device that speaks CUDA, through CuPy: nothing here is imported before a device is asked for."""
