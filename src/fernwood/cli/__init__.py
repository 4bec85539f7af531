"""The command line: thin commands over the library, one sentence for every error, exit codes that mean something.

0 done; 1 internal error; 2 bad usage or bad input; 3 stopped early with a resumable run; 130 and 143 stopped by
Ctrl-C or a termination signal with nothing to resume.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from typing import Annotated, Any

import typer

from fernwood import __version__
from fernwood.errors import FernwoodError

__all__ = ["app", "main"]

app = typer.Typer(
    name="fernwood",
    help="Finds the columns that matter in tables far wider than memory.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: fernwood demo",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fernwood {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None: ...


class _Terminated(KeyboardInterrupt):
    """SIGTERM, which stops as cleanly as Ctrl-C."""


def _terminate(*_: Any) -> None:
    raise _Terminated


def main() -> None:
    """Run the command line and turn every outcome into an exit code."""
    from fernwood.cli import demo, ingest, info  # noqa: F401, I001  (importing a command registers it, in this order)

    signal.signal(signal.SIGTERM, _terminate)
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    logging.getLogger("fernwood").setLevel(logging.INFO)
    try:
        app(standalone_mode=False)
    except _Terminated:
        _finish("stopped; nothing was written", 143)
    except KeyboardInterrupt:
        _finish("stopped; nothing was written", 130)
    except FernwoodError as error:
        _finish(str(error), 2)
    except (typer.Exit, typer.Abort) as error:
        sys.exit(getattr(error, "exit_code", 1))
    except BrokenPipeError:
        # The reader of our output is gone; there is nobody to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        if type(error).__module__.split(".")[0] in {"click", "typer"} and hasattr(error, "show"):
            error.show()
            sys.exit(getattr(error, "exit_code", 2))
        if os.environ.get("FERNWOOD_TRACEBACK"):
            raise
        _finish(
            f"internal error, {type(error).__name__}: {error}; this is a fault of Fernwood, "
            "FERNWOOD_TRACEBACK=1 shows where",
            1,
        )


def _finish(sentence: str, code: int) -> None:
    sys.stderr.write(f"fernwood: {sentence}\n")
    sys.exit(code)
