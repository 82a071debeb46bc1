"""Shell completion: answer the shell when it asks which words may follow (`_PULSUS_COMPLETE`).

Words that only a project knows are offered by `cli/completed_words.py`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import click

_ASKED: Final = "_PULSUS_COMPLETE"
"""The variable that the shell sets: `bash_complete`, or `bash_source` for the script itself."""


def answer_completion(command: click.Command) -> None:
    """Print the completions of `command` and exit if the shell asks. Raises SystemExit."""
    asked = os.environ.get(_ASKED)
    if asked:
        from click.shell_completion import shell_complete

        raise SystemExit(shell_complete(command, {}, "pulsus", _ASKED, asked))
