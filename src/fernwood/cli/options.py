"""Which option of the command line sets which parameter of which method."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from fernwood.device import check_device
from fernwood.errors import ParameterError, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fernwood.device import Device
    from fernwood.search.methods import Settings

__all__ = ["command_of", "device_from", "settings_from"]

_METHODS = {
    "snowball": "the snowball",
    "subspace": "random subspaces",
    "ferns": "ferns",
    "boruta": "Boruta",
    "elimination": "elimination",
    "filter": "the filter",
}

_PARAMETERS: dict[str, dict[str, str]] = {
    "fdr": {"snowball": "fdr", "subspace": "fdr", "ferns": "fdr"},
    "goal": {"snowball": "goal", "subspace": "goal"},
    "slack": {"snowball": "slack", "subspace": "slack"},
    "given": {"snowball": "given"},
    "max_contexts": {"snowball": "max_contexts"},
    "max_rows": {"snowball": "max_rows"},
    "patch_rows": {"subspace": "patch_rows"},
    "q": {"subspace": "q", "ferns": "q"},
    "alpha": {"subspace": "alpha", "ferns": "alpha"},
    "round_size": {"subspace": "round_size", "ferns": "round_size"},
    "rule": {"subspace": "rule", "ferns": "rule"},
    "carry": {"subspace": "carry"},
    "draws": {"subspace": "n_iter"},
    "min_draws": {"subspace": "min_draws"},
    "min_share": {"subspace": "min_share"},
    "weighted": {"subspace": "weighted"},
    "importance": {"subspace": "importance"},
    "max_features": {"subspace": "max_features"},
    "max_samples": {"subspace": "max_samples"},
    "learner": {"subspace": "learner", "boruta": "learner"},
    "trees": {"subspace": "n_trees", "boruta": "n_estimators"},
    "depth": {"subspace": "max_depth", "ferns": "depth", "boruta": "max_depth"},
    "scans": {"ferns": "scans"},
    "blind": {"ferns": "sequential"},
    "max_iter": {"boruta": "max_iter"},
    "level": {"boruta": "alpha"},
    "perc": {"boruta": "perc"},
    "bonferroni": {"boruta": "two_step"},
    "fixed_shadows": {"boruta": "correction"},
    "estimator": {"elimination": "estimator", "filter": "estimator"},
    "cv": {"elimination": "cv", "filter": "cv"},
    "scoring": {"elimination": "scoring", "filter": "scoring"},
    **{
        name: {"elimination": name}
        for name in ("n_relevant", "r_min", "r_max", "tolerance", "baseline", "step", "search", "holdout")
    },
}

_FLAGS: dict[str, Any] = {"blind": False, "bonferroni": False, "fixed_shadows": "fixed-shadows"}
"""What a flag sets its parameter to; others are set to True."""

_NO_MATTER = {"scheduler", "device", "device_memory", "table", "seed", "jobs", "force", "quiet", "as_json"}
"""What is no option of the same search, or is said otherwise."""

_INSTEAD = {("boruta", "fdr"): "--level", ("boruta", "alpha"): "--level"}
"""What a method has in place of an option that it does not take."""


def settings_from(method: str, options: Mapping[str, Any]) -> Settings:
    """The settings of a method, from the options of a command; those that were not given are None, False or empty.

    Examples
    --------
    >>> settings_from("ferns", {"depth": 5, "blind": True, "q": None, "out": "run"}).sequential
    False
    """
    from fernwood.search.methods import settings_type

    entries: dict[str, Any] = {}
    for option, parameters in _PARAMETERS.items():
        value = options.get(option)
        if value is None or value is False or value in ("", [], ()):
            continue
        if method not in parameters:
            raise ParameterError(_misplaced(option, method, list(parameters)))
        if value is True:
            value = _FLAGS.get(option, True)
        entries[parameters[method]] = _READ[option](value) if option in _READ else value
    if method in _PARAMETERS["estimator"] and "estimator" not in entries:
        raise ParameterError(
            "--estimator is not given; give naive-bayes, tree, logistic, forest, or a class as module:Class"
        )
    return settings_type(method)(**entries)


def device_from(method: str, device: Device, device_memory: str) -> dict[str, Any]:
    """What a search of a method is told about a device, from the options of a command; nothing for the processor.

    Examples
    --------
    >>> device_from("snowball", "cuda", "40GB")
    {'device': 'cuda', 'device_memory': 40000000000}
    >>> device_from("boruta", "auto", "")
    {}
    """
    size = check_device(device, device_memory or None)
    if device == "cpu" and size is not None:
        raise ParameterError(
            f"--device-memory is {shown(device_memory)} and --device is cpu; add --device cuda, or leave it out"
        )
    if device == "cuda" and method != "snowball":
        raise ParameterError(
            f"--device is cuda and the method is {method}, of which nothing runs on a device; leave --device out, or "
            "search with the snowball"
        )
    return {"device": device, "device_memory": size} if method == "snowball" and device != "cpu" else {}


def command_of(options: Mapping[str, Any], defaults: Mapping[str, Any], seed: int) -> str:
    """The command that asks for the same search again: the table, and every option that is not as it is by default.

    What changes nothing in the answer (threads, and what is printed or replaced) is left out.

    Examples
    --------
    >>> options = {"table": "my genes.csv", "target": "ill", "fdr": 0.2, "drop": ["a", "b"], "weighted": True}
    >>> command_of(options, {"fdr": None, "drop": None, "weighted": False}, seed=7)
    "fernwood select 'my genes.csv' --target ill --fdr 0.2 --drop a --drop b --weighted --seed 7"
    """
    words = ["fernwood", "select", str(options["table"])]
    for name, value in options.items():
        if name in _NO_MATTER or value is None or value == defaults.get(name):
            continue
        flag = "--" + name.replace("_", "-")
        for one in value if isinstance(value, list | tuple) else [value]:
            words += [flag] if one is True else [flag, str(one)]
    return shlex.join([*words, "--seed", str(seed)])


def _misplaced(option: str, method: str, methods: list[str]) -> str:
    flag = "--" + option.replace("_", "-")
    if other := _INSTEAD.get((method, option)):
        return f"{flag} is not for {_METHODS[method]}, which tests at a level; give {other}, or another --method"
    whose, names = _listed([_METHODS[name] for name in methods], "and"), _listed(methods, "or")
    return f"{flag} is for {whose}; add --method {names}, or leave it out"


def _listed(words: list[str], last: str) -> str:
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _as_number(text: str, rule: str) -> int | float:
    """A number, or a share, as a person writes it; `rule` begins with the option's name."""
    try:
        return float(text) if "." in text else int(text)
    except ValueError as error:
        option, _, ways = rule.partition(" ")
        raise ParameterError(f"{option} is {shown(text)}; give {ways}") from error


def _as_features(text: str) -> int | float | str:
    """What a person gives for the columns looked at in a node."""
    if text in ("sqrt", "log2"):
        return text
    return _as_number(text, "--max-features a number of columns, a share such as 0.5, sqrt or log2")


def _as_rows(text: str) -> int | float | str:
    """What a person gives for the rows that waves look at."""
    return text if text == "all" else _as_number(text, "--max-rows a number of rows, or all")


def _as_patch(text: str) -> int | float | None:
    """What a person gives for the rows that a draw sees."""
    return None if text == "all" else _as_number(text, "--patch-rows a number of rows, a share such as 0.5, or all")


_READ = {"max_features": _as_features, "max_rows": _as_rows, "patch_rows": _as_patch}
"""Options that are text on the command line, and what makes their values of it."""
