"""Draw the last calibration that a results file holds: draw_calibration.py RESULTS PICTURE (.svg)."""

import json
import sys
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot as plt

LEVELS = {"1e4": 1e-4, "3e4": 3e-4, "1e3": 1e-3, "3e3": 3e-3, "1e2": 1e-2, "3e2": 3e-2, "1e1": 0.1, "half": 0.5}
NOISE = {
    "gaussian_100": "Gaussian, 100 rows",
    "gaussian_500": "Gaussian, 500 rows",
    "blocks": "correlated blocks",
    "categories": "categories",
    "missing": "missing values",
    "zeros": "counts, many zeros",
    "unbalanced": "classes 95 : 5",
    "heavy": "heavy-tailed numbers",
    "weighted": "weighted rows",
}
RATES = {"5": 0.05, "10": 0.1, "20": 0.2, "50": 0.5}
TABLES = {"madelon": "Madelon-like", "blocks": "correlated blocks", "friedman": "Friedman #1"}

lines = [json.loads(line) for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()]
recorded = {line["case"]: line["figures"] for line in lines}  # the last of each case stays
noise, answers = recorded["calibration-noise"], recorded["calibration-answers"]
# Text stays text and nothing depends on the day, so that the same figures give the same file.
mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "fernwood", "font.size": 9})
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for name, title in NOISE.items():
    left.plot(LEVELS.values(), [noise[f"{name}_{level}"] for level in LEVELS], ".-", linewidth=1, label=title)
left.axhline(1, color="black", linewidth=0.8)
left.set(xscale="log", ylim=(0, 2.5), xlabel="p", ylabel="times as many columns as there should be")
left.set_title("noise: p without context")
left.legend(fontsize=7, frameon=False, ncols=2, loc="upper right")
for name, title in TABLES.items():
    shares = [answers[f"{name}_{rate}_false"] for rate in RATES]
    errors = [2 * answers[f"{name}_{rate}_false_error"] for rate in RATES]
    right.errorbar(RATES.values(), shares, errors, fmt=".-", linewidth=1, capsize=2, label=title)
right.plot([0, 0.5], [0, 0.5], color="black", linewidth=0.8)
right.set(xlabel="false discovery rate asked for", ylabel="share of false columns, mean", ylim=(0, 0.6))
right.set_title("tables with an answer (bars: two standard errors)")
right.legend(fontsize=7, frameon=False, loc="upper left")
figure.savefig(sys.argv[2], metadata={"Date": None})
