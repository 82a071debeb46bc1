"""The parser of a catalogue, kept between runs (spec §3, §13). Effect: one file of the state.

Learning reads every tool and stems every word of it; the same tools and synonyms give the same
parser. A cache: a damaged file is learned anew, and one that cannot be written only costs the next
run its head start.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pulsus.core.catalogue import columns
from pulsus.core.rankers import query, text
from pulsus.core.rankers.query import Synonyms
from pulsus.core.types import ToolSpec
from pulsus.routing import prompt_parser
from pulsus.routing.prompt_parser import PromptParser, Vocabulary, folder_index

FILE_NAME = "parser.json"


def known_parser(
    tools: Sequence[ToolSpec], synonyms: Synonyms, state_dir: Path | None
) -> PromptParser:
    """`PromptParser.learn(tools, synonyms)`, as an earlier run learned it where there was one.

    `state_dir` None neither reads nor writes.
    """
    if state_dir is None:
        return PromptParser.learn(tools, synonyms)
    file = state_dir / "index" / FILE_NAME
    key = _key(columns(tools).digest, synonyms)
    known = _load(file, key)
    if known is None:
        known = PromptParser.learn(tools, synonyms)
        _save(file, key, known)
    return known


def _key(digest: str, synonyms: Synonyms) -> str:
    """What a parser depends on: the tools, the synonyms, and our code, by its files' stamps."""
    code = (Path(str(m.__file__)).stat() for m in (prompt_parser, query, text))
    stamps = [(s.st_mtime_ns, s.st_size) for s in code]
    said = repr((digest, stamps, sorted(synonyms.items())))
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()


def _load(file: Path, key: str) -> PromptParser | None:
    try:
        head, _, body = file.read_bytes().partition(b"\n")
        if head.decode("ascii") != f"{key} {hashlib.sha256(body).hexdigest()}":
            return None
        return _parser(json.loads(body))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _parser(kept: Mapping[str, Any]) -> PromptParser:
    folders = tuple(Vocabulary(*folder) for folder in kept["folders"])
    table = {tuple(phrase.split()): tuple(said) for phrase, said in kept["synonyms"].items()}
    return PromptParser(folders, folder_index(folders, kept["written"]), table)


def _save(file: Path, key: str, known: PromptParser) -> None:
    kept = {
        "folders": [[f.domain, f.action, f.weights] for f in known.folders],
        "written": known.index.vocabulary,
        "synonyms": {" ".join(phrase): said for phrase, said in known.synonyms.items()},
    }
    body = json.dumps(kept, separators=(",", ":")).encode("ascii")
    temp = file.with_suffix(f".{os.urandom(4).hex()}")
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        temp.write_bytes(f"{key} {hashlib.sha256(body).hexdigest()}\n".encode("ascii") + body)
        temp.replace(file)
