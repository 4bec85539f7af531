"""Benchmarks: cases that measure, scripts that they start, and results that documents quote."""
