"""`pulsus generate`: let a model write a tool, or render a scaffold (spec §7).

The name, and if it is taken, is decided in `routing/generation/generation_run.py`; a scaffold is
written by `routing/generation/scaffold_files.py`. An example file has at most 1 MB.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pulsus.cli.command_session import CommandSession
from pulsus.cli.help_text import page_end
from pulsus.cli.options import common, rag_option
from pulsus.core.system.regular_files import endless_kind
from pulsus.errors import UsageError

if TYPE_CHECKING:
    from pulsus.core.types import Example

MAX_EXAMPLE_BYTES = 1_000_000

OPEN_VALUES = """In an example, "..." (in quotes) stands for any value. As the last item of a
list it stands for more items. As a key with the value "..." it stands for
more keys:
  {"text": "a"} -> {"rows": [1, "..."], "...": "..."}"""

HIDDEN_EXAMPLE = """A "..." proves nothing. Without a person who approves, two examples have to
expect different values. If you give two or more examples, one is hidden from
the model, and the module must pass it too."""

EPILOG = page_end(
    'pulsus generate "count the vowels of a text" \\\n'
    '      --example \'{"text": "echo"} -> {"vowels": 2}\'',
    'pulsus generate "count the vowels of a text" --scaffold',
    notes=(OPEN_VALUES, HIDDEN_EXAMPLE),
    exits={
        0: "done",
        1: "the model failed",
        2: "usage or settings",
        3: "refused",
        4: "waits for approval",
        5: "no model",
        6: "over the model's budget, or no safe place in the catalogue",
        75: "model busy or away",
    },
)


@click.command(epilog=EPILOG)
@click.argument("request", nargs=-1, required=True)
@click.option(
    "--example",
    "examples",
    multiple=True,
    metavar="JSON",
    help='An example: INPUTS -> OUTPUT in JSON ("..." for any value), or @FILE; repeatable.',
)
@click.option(
    "--scaffold", is_flag=True, help="Write a skeleton to fill in by hand; asks no model."
)
@click.option("--domain", metavar="D", help="Domain folder.  [default: from the request]")
@click.option("--action", metavar="A", help="Action folder.  [default: from the request]")
@click.option("--name", metavar="N", help="Name in the catalogue.  [default: from the request]")
@click.option(
    "--rounds",
    type=click.IntRange(0, 10),
    metavar="N",
    help="How often a refused answer goes back to the model.  [default: generator.rounds]",
)
@click.option(
    "--regenerate",
    is_flag=True,
    help="Write it anew, even if a candidate of an earlier run exists.",
)
@click.option("--dry-run", is_flag=True, help="Write and validate it, and stop before promotion.")
@rag_option
@common()
def command(
    session: CommandSession,
    request: tuple[str, ...],
    examples: tuple[str, ...],
    scaffold: bool,
    domain: str | None,
    action: str | None,
    name: str | None,
    rounds: int | None,
    regenerate: bool,
    dry_run: bool,
) -> None:
    """Let the configured model write a tool for REQUEST.

    The module is written to workflows/_tmp/. It may import allowed packages only, and its docstring
    is its contract. It is linted, type-checked and run in the sandbox on your examples. A refused
    answer goes back to the model with the reasons. An accepted module waits for your approval.
    """
    from pulsus.cli import console
    from pulsus.cli.route.route_command import print_outcome
    from pulsus.cli.route.route_status import RouteStatus
    from pulsus.routing.delivery.route_run import GenerationRequest, RouteOptions

    wanted = GenerationRequest(
        forced=True,
        examples=tuple(e for text in examples for e in _read(text)),
        domain=domain,
        action=action,
        name=name,
        rounds=rounds,
        scaffold=scaffold,
        anew=regenerate,
        report_progress=console.line_progress(quiet=session.verbosity < 0),
        example_words=examples,
    )
    options = RouteOptions(dry_run=dry_run, wanted=wanted)
    router = session.app.router(session.person)
    print_outcome(RouteStatus(session), router.route(" ".join(request), options), options)


def _read(text: str) -> tuple[Example, ...]:
    from pulsus.core.compose.writing.caller_examples import parse_examples

    if not text.startswith("@"):
        return parse_examples(text)
    path = Path(text[1:])
    if kind := endless_kind(path):
        raise UsageError(
            f"--example {text}: it is {kind}, not a file",
            hint="name a file with a list as in Examples:",
        )
    try:
        with path.open("rb") as file:
            data = file.read(MAX_EXAMPLE_BYTES + 1)
        if len(data) > MAX_EXAMPLE_BYTES:
            raise UsageError(
                f"more than {MAX_EXAMPLE_BYTES} bytes", hint="name a file with one list of examples"
            )
        return parse_examples(data.decode("utf-8"))
    except UsageError as failure:
        raise type(failure)(f"--example {text}: {failure.message}", hint=failure.hint) from failure
    except (OSError, UnicodeDecodeError) as failure:
        reason = getattr(failure, "strerror", None) or "it is not UTF-8"
        raise UsageError(
            f"--example {text}: {reason}", hint="name a file with a list as in Examples:"
        ) from failure
