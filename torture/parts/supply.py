"""What Fernwood is made of and shipped as: lowest and newest versions, advisories, packages in empty environments."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.provenance import ROOT
from torture.packages import contents, wrong_in_sdist, wrong_in_wheel
from torture.part import NOT_RUN, Bar, Part

if TYPE_CHECKING:
    from torture.part import Asked

_SCRATCH = ROOT / "torture" / "scratch" / "supply"
_TESTS = {"lowest": "test-min", "newest": "test-new"}
_HELD, _SMOKE = "what the {} holds", "the {}, installed without extras: smoke test"
_ADVISORIES = "advisories about what an installation brings (pip-audit)"
_KINDS = ("wheel", "sdist")
_PACKAGES = {
    **{_HELD.format(kind): "all of the package and nothing else" for kind in _KINDS},
    **{_SMOKE.format(kind): "passes" for kind in _KINDS},
    _ADVISORIES: "0, where an index can be reached",
}
"""What is asked of packages, by what it is about."""


class _Ended(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    text: str

    @property
    def last(self) -> str:
        """The line that says most."""
        lines = self.text.strip().splitlines()
        return lines[-1].strip("= ") if lines else "nothing was printed"


def _run(asked: Asked) -> list[Bar]:
    shutil.rmtree(_SCRATCH, ignore_errors=True)
    _SCRATCH.mkdir(parents=True)
    try:
        return [*(_tested(which, asked) for which in _TESTS), *_shipped(asked)]
    finally:
        shutil.rmtree(_SCRATCH, ignore_errors=True)


def _tested(which: str, asked: Asked) -> Bar:
    target = _TESTS[which]
    about = f"tests with the {which} versions of every library (`make {target}`)"
    rule = "0 failed, pip check content"
    if which not in asked.only:
        return Bar(about, rule, NOT_RUN, met=False)
    asked.tell(f"make {target}")
    ended = _command("make", target, f"PYTHON={sys.executable}")
    for line in re.findall(r"^(?:FAILED|ERROR) .*", ended.text, re.MULTILINE):
        asked.tell(f"  {line}")
    closing = re.findall(r"^=+ (.*(?:passed|failed|error).*) in [\d.]+s\b", ended.text, re.MULTILINE)
    checked = "No broken requirements found" in ended.text
    told = closing[-1] if closing else ended.last
    told += "; pip check is content" if checked else "; pip check was not content"
    return Bar(about, rule, told, ended.code == 0 and checked)


def _shipped(asked: Asked) -> list[Bar]:
    if "packages" not in asked.only:
        return [Bar(about, rule, NOT_RUN, met=False) for about, rule in _PACKAGES.items()]
    tools, dist = _environment("tools", "build", "pip-audit"), _SCRATCH / "dist"
    asked.tell("building the sdist, and the wheel from it")
    built = _command(str(tools), "-m", "build", "--outdir", str(dist), str(ROOT))
    if built.code:
        return [Bar("a wheel and an sdist are built", "both", built.last, met=False)]
    (wheel,), (sdist,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    bars = [
        _held("wheel", wheel, wrong_in_wheel(contents(wheel), ROOT / "src" / "fernwood")),
        _held("sdist", sdist, wrong_in_sdist(contents(sdist), sdist)),
    ]
    for kind, package in (("wheel", wheel), ("sdist", sdist)):
        asked.tell(f"the {kind} in an empty environment")
        bars.append(_smoke(kind, package))
    bars.append(_audited(tools))
    return bars


def _held(kind: str, package: Path, wrong: list[str]) -> Bar:
    told = f"{len(contents(package))} files, {package.stat().st_size / 1e6:.1f} MB" + "".join(
        f"; {one}" for one in wrong
    )
    return _bar(_HELD.format(kind), told, met=not wrong)


def _smoke(kind: str, package: Path) -> Bar:
    """Version, demo, a store, every public name, and what is refused without extras."""
    python = _environment(kind, str(package))
    folder = _SCRATCH / f"{kind}-files"
    folder.mkdir()
    ended = _command(str(python), "-I", str(ROOT / "torture" / "smoke.py"), str(folder))
    checked = _command(str(python), "-m", "pip", "check")
    told = "passes" if ended.code == 0 else ended.text.strip()
    told += "; pip check is content" if checked.code == 0 else f"; {checked.last}"
    return _bar(_SMOKE.format(kind), told, met=ended.code + checked.code == 0)


def _audited(tools: Path) -> Bar:
    """Advisories about what an installation brings; where nobody can be asked, that is said and no failure."""
    frozen = _SCRATCH / "frozen.txt"
    packages = [str(path) for path in (_SCRATCH / "wheel" / "lib").glob("python*/site-packages")]
    pins = [f"{one.name}=={one.version}" for one in distributions(path=packages) if one.name != "fernwood"]
    frozen.write_text("\n".join(sorted(pins)), encoding="utf-8")
    out = _SCRATCH / "audit.json"
    asking = ("--no-deps", "--disable-pip", "--timeout", "20", "--format", "json", "--output", str(out))
    _command(str(tools.with_name("pip-audit")), *asking, "--requirement", str(frozen))
    found: list[dict[str, Any]] = json.loads(out.read_text(encoding="utf-8"))["dependencies"] if out.is_file() else []
    # pip-audit finds nothing, and says so, where it could ask about nothing: what counts is what was answered.
    answered = [one for one in found if "vulns" in one]
    if not answered:
        return _bar(_ADVISORIES, "not asked: no index of advisories can be reached from here", met=True)
    wrong = [f"{one['name']} {one['version']}: {vuln['id']}" for one in answered for vuln in one["vulns"]]
    told = f"{len(wrong)} about {len(answered)} of {len(found)} libraries" + "".join(f"; {one}" for one in wrong)
    return _bar(_ADVISORIES, told, met=not wrong)


def _bar(about: str, told: str, *, met: bool) -> Bar:
    return Bar(about, _PACKAGES[about], told, met)


def _environment(name: str, *packages: str) -> Path:
    """The interpreter of a new environment with some packages in it."""
    for command in (
        (sys.executable, "-m", "venv", str(_SCRATCH / name)),
        (str(_python(name)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages),
    ):
        ended = _command(*command)
        if ended.code:
            raise RuntimeError(f"{' '.join(command)} ended with {ended.code}: {ended.text}")
    return _python(name)


def _python(name: str) -> Path:
    return _SCRATCH / name / "bin" / "python"


def _command(*arguments: str) -> _Ended:
    done = subprocess.run(arguments, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return _Ended(done.returncode, done.stdout)


PART = Part(
    "supply",
    "lowest and newest versions, advisories, and packages in an empty environment",
    45,
    _run,
    pieces=(*_TESTS, "packages"),
)
