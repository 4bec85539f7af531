"""Compile kernels: ``python -m fernwood.kernels [FAMILY …]``, all of them where none is named.

With ``--steps``, a child process: it reads names of steps from its input, compiles one after the other, and says so.
"""

from __future__ import annotations

import gc
import logging
import sys

from fernwood.kernels.families import FAMILIES, STEPS
from fernwood.kernels.lean import keep_numba_lean

if __name__ == "__main__":
    if sys.argv[1:] == ["--steps"]:
        keep_numba_lean()
        gc.disable()  # the compiler makes little garbage in cycles, and looking for it takes an eighth of the time
        for line in sys.stdin:
            STEPS[line.strip()]()
            sys.stdout.write(line)
            sys.stdout.flush()
    else:
        from fernwood.kernels.ready import ensure_compiled

        logging.basicConfig(format="%(message)s", level=logging.INFO)
        ensure_compiled(*(sys.argv[1:] or FAMILIES))
