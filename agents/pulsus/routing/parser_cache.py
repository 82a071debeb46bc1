"""The parser of a catalogue, kept between runs (spec §3, §13). Effect: one file of the state.

Learning reads every tool and stems every word of it; the same tools and synonyms give the same
parser. A cache: a damaged file is learned anew with a warning (kept.py), and one that cannot be
written only costs the next run its head start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pulsus.core.contract.tool_table import columns
from pulsus.core.rankers.lexical import query
from pulsus.core.rankers.lexical.query import Synonyms, synonym_table
from pulsus.core.system import json_cache
from pulsus.core.text import tokens
from pulsus.core.types import ToolSpec
from pulsus.routing import prompt_parser
from pulsus.routing.prompt_parser import FolderVocabulary, PromptParser, folder_index

FILE_NAME = "parser.json"


def cached_parser(
    tools: Sequence[ToolSpec], synonyms: Synonyms, state_dir: Path | None
) -> PromptParser:
    """`PromptParser.learn(tools, synonyms)`, as an earlier run learned it where there was one.

    `state_dir` None neither reads nor writes.
    """
    if state_dir is None:
        return PromptParser.learn(tools, synonyms)
    file = state_dir / "index" / FILE_NAME
    key = json_cache.key(columns(tools).digest, code=(prompt_parser, query, tokens))
    table = synonym_table(synonyms)
    found = json_cache.load(file, key, lambda body: _parser(body, table))
    if found is None:
        found = PromptParser.learn(tools, synonyms)
        json_cache.save(file, key, _plain(found))
    return found


def _parser(
    body: Mapping[str, Any], table: Mapping[tuple[str, ...], tuple[str, ...]]
) -> PromptParser:
    folders = tuple(FolderVocabulary(*folder) for folder in body["folders"])
    return PromptParser(folders, folder_index(folders, body["written"]), table)


def _plain(found: PromptParser) -> dict[str, Any]:
    return {
        "folders": [[f.domain, f.action, f.weights] for f in found.folders],
        "written": found.index.vocabulary,
    }
