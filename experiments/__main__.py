"""Make tables and figures of the papers again.

    python -m experiments --list            what there is
    python -m experiments convergence       one; results go to experiments/results/ and docs/reproduction.md
    python -m experiments madelon --quick   a small version: shows the direction of every claim, keeps nothing
    python -m experiments all               all, one after another
    python -m experiments --page            claims, pictures and documents again from the rows that are there

Stopped with Ctrl-C, the same command goes on where it was.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from experiments import page, writing
from experiments.catalogue import NAMES, experiment
from experiments.running import run

SCRATCH = writing.ROOT / "experiments" / "scratch"


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="experiments, or 'all'")
    parser.add_argument("--list", action="store_true", help="list the experiments")
    parser.add_argument("--quick", action="store_true", help="the small version, written to experiments/scratch/")
    parser.add_argument("--fresh", action="store_true", help="begin anew instead of going on where a run was stopped")
    parser.add_argument("--jobs", type=int, default=2, help="processes at once (default: 2)")
    parser.add_argument("--page", action="store_true", help="read the results anew: claims, pictures and documents")
    arguments = parser.parse_args()
    if arguments.list:
        for name in NAMES:
            found = experiment(name)
            print(f"{name:<14}item {found.item}  {found.title}")
            for part in found.parts:
                print(f"{'':<14}        {part.name}: {part.source}")
        return 0
    names = list(NAMES) if arguments.names == ["all"] else arguments.names
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        parser.error(f"no such experiment: {', '.join(unknown)}; --list shows them")
    if arguments.jobs < 1:
        parser.error(f"--jobs is {arguments.jobs}, but at least one process has to do the work")
    if not names and not arguments.page:
        parser.error("name an experiment, or 'all'; --list shows them")
    try:
        for name in names:
            _reproduce(name, quick=arguments.quick, fresh=arguments.fresh, jobs=arguments.jobs)
    except KeyboardInterrupt:
        print("\nstopped; the same command goes on from here", file=sys.stderr)
        return 130
    if arguments.page:
        for name in NAMES:
            if (writing.RESULTS / f"{name}.json").is_file():
                writing.rewrite(experiment(name), results=writing.RESULTS, figures=writing.FIGURES)
    if not arguments.quick:
        page.PAGE.write_text(page.page(), encoding="utf-8")
        page.README.write_text(page.readme(page.README.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


def _reproduce(name: str, *, quick: bool, fresh: bool, jobs: int) -> None:
    found = experiment(name)
    kept = SCRATCH / f"{name}{'-quick' if quick else ''}.jsonl"
    if fresh:
        kept.unlink(missing_ok=True)
    print(f"{name}: {found.title}", flush=True)
    outcome = run(found, kept, quick=quick, jobs=jobs, tell=lambda text: print(f"  {text}", file=sys.stderr))
    results, figures = (SCRATCH / "quick",) * 2 if quick else (writing.RESULTS, writing.FIGURES)
    if not quick and (lacking := writing.known_data(found, outcome.missing)):
        results = figures = SCRATCH / "incomplete"
        print(
            f"  the results kept from before were measured with {', '.join(lacking)} and stay; this run's go to "
            f"{_shown(results)}",
            file=sys.stderr,
        )
    told = writing.write(found, outcome, quick=quick, results=results, figures=figures)
    kept.unlink()
    for part in told["parts"].values():
        print(f"  {part['title']}")
        for claim in part["claims"]:
            paper = f", paper {claim['paper']}" if "paper" in claim else ""
            print(f"    {claim['verdict']:<8}{claim['about']}: {claim.get('ours', '')}{paper}")
    print(f"  {told['processor_seconds']:.0f} s of a processor; {_shown(results / f'{name}.json')}", flush=True)


def _shown(path: Path) -> Path:
    return path.relative_to(writing.ROOT)


if __name__ == "__main__":
    sys.exit(main())
