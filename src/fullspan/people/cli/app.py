"""The application: its commands, and how their failures become exit codes."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from fullspan.errors import DataWarning, FullspanError
from fullspan.people.cli.commands import COMMANDS
from fullspan.people.cli.options.headings import NamedValues
from fullspan.people.cli.running.interrupt import INTERRUPTED
from fullspan.people.cli.running.messages import as_options, said

_STDOUT = {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}
"""Files that are the standard output; where one of them is written to, what is said goes to standard error."""


def application() -> typer.Typer:
    """The application with all its commands; ``fit`` has the options of the models that there are now."""
    made = typer.Typer(
        name="fullspan",
        cls=NamedValues,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    epilog = "Exit codes: 0 success, 1 internal error, 2 wrong usage or input, 130 interrupted."
    made.callback(epilog=epilog)(_root)
    for module in COMMANDS:
        module.register(made)
    return made


def _version(wanted: bool) -> None:
    if wanted:
        import fullspan

        typer.echo(f"fullspan {fullspan.__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Fit exact probability models to tables of categorical data, and ask them questions.

    Try it: fullspan demo

    Fit your data: fullspan fit data.csv -o model.fsm

    Ask: fullspan query model.fsm "P(column=level)"
    """


app = application()


def run(argv: Sequence[str] | None = None) -> int:
    """Run the application; every failure has its exit code, and only a fault of the program leaves a traceback."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", DataWarning)
            warnings.showwarning = _show_warning
            code = _dispatch(argv)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        return _pipe_closed()
    except (KeyboardInterrupt, typer.Abort):
        return _complain("interrupted", INTERRUPTED)
    except FullspanError as error:
        return _complain(said(error))
    except OSError as error:
        return _complain(_os_message(error))


def _dispatch(argv: Sequence[str] | None) -> int:
    """Parse and run, with interrupts and closed pipes left to the caller."""
    command: Any = typer.main.get_command(application())
    arguments = list(sys.argv[1:] if argv is None else argv)
    apart = contextlib.redirect_stdout(sys.stderr) if _STDOUT & set(arguments) else contextlib.nullcontext()
    try:
        with apart, command.make_context("fullspan", arguments) as context:
            result = command.invoke(context)
    except typer.Exit as done:
        return done.exit_code
    except Exception as error:
        if not (hasattr(error, "show") and hasattr(error, "exit_code")):
            raise
        error.show()  # a usage error of the parser, which knows how to tell it
        return int(error.exit_code)
    return result if isinstance(result, int) else 0


def _show_warning(message: Warning | str, category: type[Warning], *_where: Any, **_line: Any) -> None:
    """What a person should know, without the line of code that found it."""
    print(f"fullspan: {as_options(str(message))}", file=sys.stderr)


def _complain(message: str, code: int = 2) -> int:
    print(f"fullspan: {message}", file=sys.stderr)
    return code


def _os_message(error: OSError) -> str:
    return f"{error.strerror}: {error.filename!r}" if error.filename else str(error)


def _pipe_closed() -> int:
    """The reader of our output has gone (``| head``): stop quietly."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
