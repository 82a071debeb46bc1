"""Words that stand for others, `*.log` or what xargs reads: what to say of them, what to write.

Nothing is decided here: a refusal gets its words, and a way out that was judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from pulsus.commands.program_tables.program_table import Node
from pulsus.commands.shell.words import ANYTHING, Word


def shown_word(word: Word, program: str) -> str:
    """Return `word` for a refusal, or the program that gets a word from another program."""
    return program if word is ANYTHING else word.text


def wildcard_reason(word: Word) -> str:
    """Return the beginning of what is wrong with `word`."""
    return "another program feeds it" if word is ANYTHING else "it stands for"


def as_option(word: Word) -> str:
    """Return why `word` may not stand where options are read."""
    if word is ANYTHING:
        return "what another program feeds it can be taken for an option"
    return "a file name that it stands for can be taken for an option"


def suggest_without_wildcards(
    node: Node, words: Sequence[Word], reads: Callable[[Sequence[Word]], bool]
) -> str:
    """Return how to write the wild ones of `words`, behind the program or subcommand `node`, so
    that it `reads`; empty if no way of these does.
    """
    return next(
        (suggestion for suggestion, other in _suggest_spellings(node, words) if reads(other)), ""
    )


def _suggest_spellings(node: Node, words: Sequence[Word]) -> Iterator[tuple[str, Sequence[Word]]]:
    wild = [at for at, word in enumerate(words) if word.wild and not word.head]
    if not wild:
        return
    first = words[wild[0]]
    if not any(words[at] is ANYTHING for at in wild):
        below = [replace(w, text=f"./{w.text}", head="./") if w.wild else w for w in words]
        yield f"write ./{first.text}", below
    options = any(word.text[:1] == "-" for word in words[wild[0] :])  # no longer, behind --
    parts = node.style not in {"dash", "words"} and not options
    if parts and not any(word.text == "--" for word in words):
        parted = (*words[: wild[0]], Word("--"), *words[wild[0] :])
        behind = f"`{node.name} --`" if wild[0] == 0 else "-- behind its last word"
        yield f"write {behind}" if first is ANYTHING else f"write `-- {first.text}`", parted
