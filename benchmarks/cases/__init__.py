"""Benchmark cases by name. A case takes a `Bench` and returns its figures and, for every bar, whether it is met."""

from benchmarks.cases.boruta import boruta_iris, boruta_madelon, boruta_memory, boruta_noise
from benchmarks.cases.calibration import (
    calibration_answers,
    calibration_covariates,
    calibration_covariates_more,
    calibration_design_power,
    calibration_design_searches,
    calibration_designs,
    calibration_noise,
    calibration_ties,
)
from benchmarks.cases.cluster import CLUSTER_CASES
from benchmarks.cases.durability import DURABILITY_CASES
from benchmarks.cases.elimination import ELIMINATION_CASES
from benchmarks.cases.ferns import FERN_CASES
from benchmarks.cases.formats import FORMAT_CASES
from benchmarks.cases.foundation import bins, ingest_csv, ingest_npy, ingest_short, read_columns
from benchmarks.cases.gpu import GPU_CASES
from benchmarks.cases.minimal import minimal_madelon
from benchmarks.cases.report import report_million
from benchmarks.cases.scale import SCALE_CASES as WIDE_CASES
from benchmarks.cases.snowball import SNOWBALL_CASES
from benchmarks.cases.start import start_demo, start_select
from benchmarks.cases.subspace import (
    select_demo,
    srs_madelon,
    srs_mirror_rate,
    srs_overhead,
    srs_rules,
    srs_shadow_all,
    srs_shadow_rate,
    srs_trees,
)
from benchmarks.cases.trees import (
    trees_50,
    trees_250,
    trees_2500,
    trees_20000,
    trees_long_tails,
    trees_numbers,
    trees_ten_classes,
    trees_threads,
)

__all__ = ["CASES", "SCALE_CASES"]

SCALE_CASES = {**WIDE_CASES, **DURABILITY_CASES, **CLUSTER_CASES, **GPU_CASES, "report-million": report_million}

CASES = {
    "ingest-npy": ingest_npy,
    "ingest-csv": ingest_csv,
    "read-columns": read_columns,
    "ingest-short": ingest_short,
    **FORMAT_CASES,
    "bins": bins,
    "trees-50": trees_50,
    "trees-250": trees_250,
    "trees-2500": trees_2500,
    "trees-ten": trees_ten_classes,
    "trees-numbers": trees_numbers,
    "trees-20000": trees_20000,
    "trees-threads": trees_threads,
    "trees-long-tails": trees_long_tails,
    "srs-overhead": srs_overhead,
    "srs-madelon": srs_madelon,
    "srs-trees": srs_trees,
    "srs-rules": srs_rules,
    "srs-shadow-rate": srs_shadow_rate,
    "srs-shadow-all": srs_shadow_all,
    "srs-mirror-rate": srs_mirror_rate,
    "demo": select_demo,
    "start-select": start_select,
    "start-demo": start_demo,
    **SNOWBALL_CASES,
    "minimal-madelon": minimal_madelon,
    "boruta-madelon": boruta_madelon,
    "boruta-iris": boruta_iris,
    "boruta-memory": boruta_memory,
    "boruta-noise": boruta_noise,
    **FERN_CASES,
    **ELIMINATION_CASES,
    "calibration-noise": calibration_noise,
    "calibration-covariates": calibration_covariates,
    "calibration-covariates-more": calibration_covariates_more,
    "calibration-answers": calibration_answers,
    "calibration-ties": calibration_ties,
    "calibration-designs": calibration_designs,
    "calibration-design-searches": calibration_design_searches,
    "calibration-design-power": calibration_design_power,
}
