"""How a failure of the differential suite is seen again: one line that can be copied."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.differential.seeds import VARIABLE, rotating


def pytest_report_header() -> str:
    """CI shows which tables the long part is about to take."""
    return f"{VARIABLE}={rotating()}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report = yield
    if report.failed:
        again = f"{VARIABLE}={rotating()} .venv/bin/python -m pytest -m '' '{item.nodeid}'"
        report.sections.append(("reproduce", again))
    return report
