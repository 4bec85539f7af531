"""What an experiment leaves: NAME.json with everything, NAME-PART.csv with the rows, NAME-PART.svg with the picture."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

from benchmarks.provenance import ROOT, provenance
from experiments.experiment import Told

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.experiment import Claim, Experiment, Part, Row
    from experiments.running import Outcome

RESULTS = ROOT / "experiments" / "results"
FIGURES = ROOT / "docs" / "figures" / "reproduction"
_PACKAGES = ("fernwood", "numpy", "scipy", "numba", "scikit-learn")


def write(experiment: Experiment, outcome: Outcome, *, quick: bool, results: Path, figures: Path) -> dict[str, Any]:
    """Write all files of a run; what the JSON file holds is returned."""
    seeds = {row[name] for rows in outcome.rows.values() for row in rows for name in ("seed", "seeds") if name in row}
    about = {
        "experiment": experiment.name,
        "item": experiment.item,
        "title": experiment.title,
        "quick": quick,
        "command": f"python -m experiments {experiment.name}{' --quick' if quick else ''}",
        "seeds": sorted(seeds),
        "wall_seconds": round(outcome.seconds, 1),
        "processor_seconds": round(outcome.processor_seconds, 1),
        "missing": list(outcome.missing),
        **provenance(_PACKAGES),
    }
    return _write(experiment, about, outcome.rows, results, figures)


def known_data(experiment: Experiment, missing: tuple[str, ...]) -> list[str]:
    """Those of the missing data files that the kept results were measured with: a run without them shows less."""
    path = RESULTS / f"{experiment.name}.json"
    if not path.is_file():
        return []
    before = json.loads(path.read_text(encoding="utf-8"))["missing"]
    return [name for name in missing if name not in before]


def rewrite(experiment: Experiment, *, results: Path, figures: Path) -> None:
    """Read claims and draw pictures anew from the rows of an earlier run."""
    about = json.loads((results / f"{experiment.name}.json").read_text(encoding="utf-8"))
    parts = about.pop("parts")
    rows = {part.name: parts.get(part.name, {}).get("figures", []) for part in experiment.parts}
    _write(experiment, {**about, "title": experiment.title}, rows, results, figures)


def _write(
    experiment: Experiment, about: dict[str, Any], told: dict[str, list[Row]], results: Path, figures: Path
) -> dict[str, Any]:
    results.mkdir(parents=True, exist_ok=True)
    parts = {}
    for part in experiment.parts:
        rows = told[part.name]
        stem = f"{experiment.name}-{part.name}"
        if rows:
            _write_rows(results / f"{stem}.csv", rows)
        drawn = _draw(part, rows, figures / f"{stem}.svg") if rows else False
        parts[part.name] = {
            "title": part.title,
            "source": part.source,
            "text": part.text,
            "picture": f"{stem}.svg" if drawn else None,
            "table": list(part.table(Told(rows))) if part.table and rows else [],
            "claims": [_as_json(claim) for claim in part.claims(Told(rows))] if rows else [],
            "figures": rows,
        }
    whole = {**about, "parts": parts}
    (results / f"{experiment.name}.json").write_text(_text(whole), encoding="utf-8")
    return whole


def _text(whole: dict[str, Any]) -> str:
    """JSON that people can read too: a row of figures is one line."""
    bare = {name: {**part, "figures": f"figures of {name}"} for name, part in whole["parts"].items()}
    text = json.dumps({**whole, "parts": bare}, indent=1, ensure_ascii=False)
    for name, part in whole["parts"].items():
        lines = ",\n".join(f"    {json.dumps(row, ensure_ascii=False)}" for row in part["figures"])
        text = text.replace(f'"figures of {name}"', f"[\n{lines}\n   ]" if lines else "[]")
    return text + "\n"


def _as_json(claim: Claim) -> dict[str, Any]:
    """A claim with its verdict; what is empty is left out."""
    fields = {**vars(claim), "verdict": claim.verdict}
    return {name: value for name, value in fields.items() if value not in ("", None)}


def _write_rows(path: Path, rows: list[Row]) -> None:
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _draw(part: Part, rows: list[Row], path: Path) -> bool:
    """Draw the picture of a part, where it has one; text stays text, and two equal runs give equal bytes."""
    if part.draw is None:
        return False
    import matplotlib as mpl
    from matplotlib.figure import Figure

    style = {"svg.fonttype": "none", "svg.hashsalt": path.stem, "axes.spines.top": False, "axes.spines.right": False}
    with mpl.rc_context(style):
        figure = Figure(figsize=part.size, layout="constrained")
        part.draw(Told(rows), figure)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})
    return True
