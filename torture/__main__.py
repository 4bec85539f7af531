"""Try hard to break Fernwood.

    python -m torture --list              what there is
    python -m torture faults              one; figures go to torture/results/ and docs/trust.md
    python -m torture soak --minutes 2    shorter than its full size: shown, not kept
    python -m torture fuzz --only npy     a piece of one; what is kept of its other pieces stays
    python -m torture all                 all, one after another; the table of bars at the end

The command ends with 1 when a bar is missed.
"""

from __future__ import annotations

import argparse
import sys
import time

from torture import writing
from torture.catalogue import NAMES, part
from torture.part import NOT_RUN, Asked


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m torture", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="parts, or 'all'")
    parser.add_argument("--list", action="store_true", help="list the parts")
    parser.add_argument("--minutes", type=float, help="how long a part goes on (default: its full size)")
    parser.add_argument("--only", action="append", metavar="PIECE", help="a piece of the part; may be given again")
    parser.add_argument("--seed", type=int, default=1, help="where random choices begin (default: 1)")
    parser.add_argument("--page", action="store_true", help="the table of the documentation again from kept results")
    arguments = parser.parse_args()
    if arguments.list:
        for name in NAMES:
            print(f"{name:<14}{part(name).minutes:4.0f} min  {part(name).title}")
        return 0
    names = list(NAMES) if arguments.names == ["all"] else arguments.names
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)}; --list shows them")
    if arguments.minutes is not None and not arguments.minutes > 0:
        parser.error(f"--minutes is {arguments.minutes:g}, but time goes forward: give more than 0")
    if not names and not arguments.page:
        parser.error("name a part, or 'all'; --list shows them")
    for piece in arguments.only or ():
        for name in names:
            if piece not in part(name).pieces:
                parser.error(f"no such piece of {name}: {piece}; its pieces: {', '.join(part(name).pieces) or 'none'}")
    try:
        met = [_run(name, arguments.minutes, arguments.seed, arguments.only) for name in names]
    except KeyboardInterrupt:
        print("\nstopped; parts that had ended are kept", file=sys.stderr)
        return 130
    finally:
        writing.PAGE.write_text(writing.page(writing.PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    if len(names) > 1:
        print(writing.table())
    return 0 if all(met) else 1


def _run(name: str, minutes: float | None, seed: int, only: list[str] | None) -> bool:
    """Run one part, or pieces of it, and show its bars; those of a run of full size are kept."""
    found = part(name)
    most = found.minutes if minutes is None else minutes
    print(f"{name}: {found.title}", flush=True)
    started = time.perf_counter()
    asked = Asked(most, seed, lambda text: print(f"  {text}", file=sys.stderr, flush=True), only or found.pieces)
    bars = found.run(asked)
    seconds = time.perf_counter() - started
    if most >= found.minutes:
        writing.write(found, bars, asked, seconds=seconds, results=writing.RESULTS)
    run = [bar for bar in bars if bar.measured != NOT_RUN]
    for bar in run:
        print(f"  {'met   ' if bar.met else 'MISSED'}  {bar.about}: {bar.measured} (asked: {bar.asked})", flush=True)
    return all(bar.met for bar in run)


if __name__ == "__main__":
    sys.exit(main())
