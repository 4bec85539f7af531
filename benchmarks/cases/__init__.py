"""Benchmark cases by name. A case takes a `Bench` and returns its figures and, for every bar, whether it is met."""

from benchmarks.cases.foundation import bins, ingest_csv, ingest_npy, ingest_short, read_columns

CASES = {
    "ingest-npy": ingest_npy,
    "ingest-csv": ingest_csv,
    "read-columns": read_columns,
    "ingest-short": ingest_short,
    "bins": bins,
}
