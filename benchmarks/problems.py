"""The problems of the snowball's benchmarks by name: tables whose answer is known, each made from a generator."""

from __future__ import annotations

from benchmarks import tables

__all__ = ["PROBLEMS"]

PROBLEMS = {
    "madelon": tables.madelon,
    "like-5500-2": tables.madelon_like(5500, 2.0),
    "like-5500-1.5": tables.madelon_like(5500, 1.5),
    "like-5500-1": tables.madelon_like(5500, 1.0),
    "iris": tables.iris,
    "friedman": tables.friedman(5000),
    "strong": tables.strong,
    "ten-classes": tables.ten_classes,
    "imbalance": tables.imbalance,
    "blocks-500": tables.blocks(500, 5000),
    "blocks-2000": tables.blocks(2000, 5000),
    "xor": tables.exclusive_or,
    "parity": tables.parity,
    "null-gaussian": tables.gaussian,
    "null-golub": tables.permuted("golub_leukemia.parquet"),
    "null-singh": tables.permuted("singh_prostate_6033.parquet"),
}
