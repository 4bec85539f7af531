"""Compile families of kernels for the types they are called with: ``python -m fernwood.kernels text trees``.

Run in a child process the first time, so that the compiler's memory is never part of a run's budget.
"""

from __future__ import annotations

import sys

from fernwood.kernels.families import FAMILIES, load_families
from fernwood.kernels.ready import mark_compiled

if __name__ == "__main__":
    for family in sys.argv[1:] or FAMILIES:
        load_families(family)
        mark_compiled(family)
