"""Compiled numerics: pure functions on arrays, compiled by Numba when first called and kept on disk after that."""
