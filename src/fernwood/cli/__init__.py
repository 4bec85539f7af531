"""The command line: thin commands over the library, one sentence for every error, exit codes that mean something.

0 done; 1 internal error; 2 bad usage, bad input or a disk that refuses; 3 stopped early with a resumable run; 130 and
143 stopped by Ctrl-C or a termination signal with nothing to resume.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import sys
from functools import cache
from importlib import import_module
from select import POLLERR, POLLHUP, poll
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from fernwood.errors import FernwoodError, closest, printable, shown
from fernwood.run.stopping import Stopped, hear
from fernwood.shortage import check_libraries, is_shortage, shortage
from fernwood.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["app", "carry_out", "load_commands", "main"]

app = typer.Typer(
    name="fernwood",
    help="Finds the columns that matter in tables far wider than memory.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: fernwood demo",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fernwood {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None and not version:
        from fernwood.cli.welcome import welcome

        typer.echo(welcome())


def _stop(number: int, _: Any) -> None:
    try:
        hear(number)
    except Stopped:
        signal.signal(number, signal.SIG_IGN)  # that is enough: what follows is clearing up
        raise


def main() -> None:
    """Run the command line."""
    try:
        carry_out(_command)
    finally:  # a signal that comes while Python shuts down has nothing left to stop, and must not show a traceback
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _command() -> Any:
    """Do what the arguments say; an exit that a command asks for comes back as a number."""
    signal.signal(signal.SIGINT, _stop)
    signal.signal(signal.SIGTERM, _stop)
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    logging.getLogger("fernwood").setLevel(logging.INFO)
    check_libraries()
    from fernwood.cli.lean import few_collections, return_freed_memory
    from fernwood.cli.quiet import hide_deprecations
    from fernwood.kernels.lean import keep_numba_lean

    return_freed_memory()
    keep_numba_lean()
    hide_deprecations()
    with few_collections():
        return load_commands(*sys.argv[1:2])(standalone_mode=False)


def carry_out(command: Callable[[], Any]) -> NoReturn:
    """Do what a command does, and end with an exit code whatever comes of it; what went wrong is one sentence."""
    try:
        sys.exit(command())
    except Stopped as stop:
        _finish("stopped; nothing half-written is left", 128 + stop.number)
    except FernwoodError as error:
        _finish(str(error), 2)
    except (typer.Exit, typer.Abort) as error:
        sys.exit(getattr(error, "exit_code", 1))
    except Exception as error:
        if isinstance(error, BrokenPipeError) and _nobody_reads():
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(1)
        if is_shortage(error):
            _finish(str(shortage()), 2)
        if isinstance(error, ConnectionError):
            _finish(f"a process that this one works with is gone: {error.strerror or error}; give the command again", 2)
        if isinstance(error, OSError):
            # Who knows what was being done has said more; what comes here is what the system alone says.
            what = "the disk" if error.filename is None else shown(error.filename)
            _finish(f"{what} refused: {error.strerror or error}; mend that, and give the command again", 2)
        if type(error).__module__.split(".")[0] in {"click", "typer"} and hasattr(error, "format_message"):
            _refuse_usage(error)
        if os.environ.get("FERNWOOD_TRACEBACK"):
            raise
        _finish(
            f"internal error, {type(error).__name__}: {error}; this is a fault of Fernwood, "
            "FERNWOOD_TRACEBACK=1 shows where",
            1,
        )


def _nobody_reads() -> bool:
    """Whether the reader of what is printed is gone, as `head` is after some lines; there is nobody to tell then."""
    streams = poll()
    for stream in (1, 2):
        streams.register(stream, 0)
    return any(state & (POLLERR | POLLHUP) for _, state in streams.poll(0))


_COMMANDS = {
    **{
        name: name
        for name in ("select", "plan", "status", "report", "export", "annotate", "apply", "compare", "ingest")
    },
    "resume": "select",
    "info": "info",
    "verify": "info",
    "demo": "demo",
    "theory": "theory",
}
"""The commands, and the modules that they are in, in the order in which help lists them."""


@cache
def load_commands(name: str = "") -> typer.Typer:
    """The command line with all its commands, or with the one of a name, which is loaded sooner."""
    for module in dict.fromkeys([_COMMANDS[name]] if name in _COMMANDS else _COMMANDS.values()):
        import_module(f"fernwood.cli.{module}")  # which registers them
    return app


def _refuse_usage(error: Any) -> NoReturn:
    """Say in one sentence what is wrong with the command itself."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "fernwood"
    sentence = " ".join(str(error.format_message()).split()).rstrip(".")
    if not sentence or type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        sys.exit(2)
    help_ = f"; {command} --help shows what there is"
    for pattern, what in _UNKNOWN:
        if context is not None and (match := re.search(pattern, sentence)):
            known = {name.lstrip("-"): name for name in _known(what, context, sentence[match.end() :])}
            close = closest(match[1].lstrip("-"), known)
            hint = close and f"; did you mean {shown(known[close])}?"
            if what == "value":
                _finish(f"{sentence[0].lower()}{sentence[1:].replace('Value error, ', '')}{hint or help_}", 2)
            _finish(f"{command} has no {what} {shown(match[1])}{hint or help_}", 2)
    _finish(f"{sentence[0].lower()}{sentence[1:]}{help_}", 2)


_UNKNOWN = (
    (r"^No such command '(.*?)'", "command"),
    (r"^No such option:? '?(-[^\s']*)", "option"),
    (r"'([^']*)' is not one of ", "value"),
)
"""What the library says of words that are not known, and what these are."""


def _known(what: str, context: Any, rest: str) -> list[str]:
    """The words that there are."""
    if what == "command":
        return list(context.command.list_commands(context))
    if what == "option":
        return [name for option in context.command.params for name in option.opts]
    return re.findall("'(.*?)'", rest)


def _finish(sentence: str, code: int) -> NoReturn:
    sys.stderr.write(f"fernwood: {printable(sentence)}\n")
    sys.exit(code)
