"""Linear algebra on one thread, and profiles for property tests.

`default` is for working, `ci` the same every time, `nightly` has many more examples.
"""

from __future__ import annotations

import os

import pytest
import scipy.linalg  # noqa: F401  (with NumPy's and SciPy's linear algebra, of which either has threads of its own)
from hypothesis import HealthCheck, settings
from threadpoolctl import threadpool_limits

from tests.skipped import skip_line

# On tables as small as these, threads of linear algebra do nothing but wait for one another, and take the processors
# from tests beside them. Processes that tests start have theirs.
threadpool_limits(1, user_api="blas")

settings.register_profile("default", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", parent=settings.get_profile("default"), derandomize=True)
settings.register_profile("nightly", parent=settings.get_profile("default"), max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "default"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say of skipped tests in one line what they need; `-rs` lists them."""
    skipped = [report.longrepr[2] for report in terminalreporter.stats.get("skipped", [])]
    if skipped:
        terminalreporter.write_line(skip_line(reason.removeprefix("Skipped: ") for reason in skipped))
