"""Pages that are made when the site is built: the command line, from its own help, and the list of decisions."""

from __future__ import annotations

import inspect
import pkgutil
import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from mkdocs.structure.files import File
from typer.models import ArgumentInfo, OptionInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import typer
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

COMMAND_LINE = "reference/command-line.md"
DECISIONS = "decisions/"
_FIRST = (
    "select",
    "resume",
    "status",
    "report",
    "export",
    "annotate",
    "apply",
    "compare",
    "plan",
    "ingest",
    "info",
    "verify",
)
_COMMAND_LINE = """# The command line

`fernwood COMMAND --help` shows the same on the terminal. Exit codes: 0 done; 1 internal error; 2 bad usage or bad
input;
3 stopped early with a resumable run; 130 and 143 stopped by Ctrl-C or a termination signal with nothing to resume.
"""
_WORDS = {"Path": "PATH", "str": "TEXT", "int": "NUMBER", "float": "NUMBER"}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put every decision record where the navigation has the name of their directory."""
    records = [f"{DECISIONS}{path.name}" for path in _records(config)]
    for section in config.nav or []:
        for title, entry in section.items() if isinstance(section, dict) else ():
            if entry == DECISIONS:
                section[title] = [f"{DECISIONS}index.md", *records]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made here."""
    for path, text in ((COMMAND_LINE, command_line()), (f"{DECISIONS}index.md", _decisions(config))):
        files.append(File.generated(config, path, content=text))
    return files


def _records(config: MkDocsConfig) -> list[Path]:
    return sorted((Path(config.docs_dir) / DECISIONS).glob("[0-9]*.md"))


def _decisions(config: MkDocsConfig) -> str:
    """A page that lists the records of decisions."""
    lines = []
    for path in _records(config):
        number, title = re.match(r"# (\d+):? (.*)", path.read_text(encoding="utf-8").partition("\n")[0]).groups()
        lines.append(f"- {number}: [{title}]({path.name})")
    return (
        "# Why it is as it is\n\n"
        "What was not obvious has a record: what the question was, what could have been done, what was done, and what "
        "follows. A record is superseded by a later one, never edited.\n\n" + "\n".join(lines) + "\n"
    )


# The command line ----------------------------------------------------------------------------------------------------


def command_line() -> str:
    """A page with every command and its options, as Typer knows them."""
    from fernwood import cli

    for module in pkgutil.iter_modules(cli.__path__):
        import_module(f"fernwood.cli.{module.name}")
    from fernwood.cli import theory

    parts = [_COMMAND_LINE]
    commands = {_name_of(info): info.callback for info in cli.app.registered_commands}
    for name in sorted(commands, key=lambda name: (_FIRST.index(name) if name in _FIRST else len(_FIRST), name)):
        parts += _command(f"fernwood {name}", commands[name], "##")
    parts += [
        "## fernwood theory\n",
        f"{theory.app.info.help} [The page about it](../theory.md) shows what they print.\n",
    ]
    for info in theory.app.registered_commands:
        parts += _command(f"fernwood theory {_name_of(info)}", info.callback, "###")
    return "\n".join(parts)


def _name_of(info: typer.models.CommandInfo) -> str:
    return info.name or info.callback.__name__.replace("_", "-")


def _command(name: str, callback: Callable[..., None], heading: str) -> Iterator[str]:
    """What one command does, how it is called, and a table of options for each of its panels."""
    arguments, panels = [], {}
    for parameter, kind, info, default in _parameters(callback):
        if isinstance(info, ArgumentInfo):
            arguments.append((info.metavar or parameter.upper(), info.help or "", default))
        elif not info.hidden:
            panels.setdefault(info.rich_help_panel or "", []).append(_option(parameter, kind, info, default))
    yield f"{heading} {name}\n"
    text = inspect.cleandoc(callback.__doc__ or "")
    prose, _, example = text.partition("Example: ")
    yield f"{_escaped(prose.strip())}\n"
    shape = " ".join(word if default is inspect.Parameter.empty else f"[{word}]" for word, _, default in arguments)
    yield f"```\n{name} {shape}{' ' * bool(shape)}[OPTIONS]\n```\n"
    if example:
        yield f"Example:\n\n```\n{' '.join(example.split())}\n```\n"
    yield from (f"- `{word}`: {_escaped(about)}" for word, about, _ in arguments if about)
    if name == "fernwood plan":  # its options are those of the search that it is for
        panels = {}
    for panel, options in panels.items():
        yield f"\n*{_escaped(panel)}*\n" if panel else ""
        yield "| option | value | what it is |\n| --- | --- | --- |"
        yield from options
    yield ""


def _parameters(callback: Callable[..., None]) -> Iterator[tuple[str, Any, ArgumentInfo | OptionInfo, Any]]:
    """Name, type, what Typer was told, and default of every parameter."""
    hints = get_type_hints(callback, include_extras=True)
    for name, parameter in inspect.signature(callback).parameters.items():
        hint = hints.get(name, parameter.annotation)
        if get_origin(hint) is Annotated:
            kind, *told = get_args(hint)
            yield name, kind, next(one for one in told if isinstance(one, ArgumentInfo | OptionInfo)), parameter.default


def _option(name: str, kind: Any, info: OptionInfo, default: Any) -> str:
    """A row of the table of options."""
    # Inside Annotated, Typer takes the first name of an option for its default until it looks closer.
    named = [word for word in (info.default, *(info.param_decls or ())) if isinstance(word, str) and word[:1] == "-"]
    shown = " ".join(f"`{word}`" for word in named or [f"--{name.replace('_', '-')}"])
    value = _value(kind)
    if default not in (None, False, True, "", inspect.Parameter.empty):
        value += f"; by default `{default}`"
    return f"| {shown} | {value} | {_escaped(info.help or '')} |"


def _value(kind: Any) -> str:
    """What an option takes, in words."""
    if get_origin(kind) is Literal:
        return " ".join(f"`{word}`" for word in get_args(kind))
    if get_origin(kind) in (Union, type(int | None)):
        return _value(next(one for one in get_args(kind) if one is not type(None)))
    if get_origin(kind) in (list, tuple):
        return f"{_value(get_args(kind)[0])}, repeatable"
    return "" if kind is bool else _WORDS.get(getattr(kind, "__name__", ""), "TEXT")


def _escaped(text: str) -> str:
    """Text of the help as Markdown; backticks stay what they are."""
    return re.sub(r"([|<>*_\[\]])", r"\\\1", text)
