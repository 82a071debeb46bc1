"""Cache the parser of a catalogue between runs (spec §3, §13). Effect: one file of the state.

A cached parser is stale if the tools, or the code that learns, differ.

Learning a parser reads every tool and stems all its words. The same tools and synonyms always give
the same parser.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pulsus.core.contract.tool_table import make_columns
from pulsus.core.rankers.lexical import query_terms
from pulsus.core.rankers.lexical.query_terms import Synonyms, synonym_table
from pulsus.core.system import cache_file
from pulsus.core.text import tokens
from pulsus.core.types import ToolSpec
from pulsus.routing import prompt_parser
from pulsus.routing.prompt_parser import FolderVocabulary, PromptParser, folder_index

FILE_NAME = "parser.json"


def cached_parser(
    tools: Sequence[ToolSpec], synonyms: Synonyms, state_dir: Path | None
) -> PromptParser:
    """Return `PromptParser.learn(tools, synonyms)`, from the cache if possible.

    With `state_dir` None no file is read or written.
    """
    if state_dir is None:
        return PromptParser.learn(tools, synonyms)
    file = state_dir / "index" / FILE_NAME
    key = cache_file.key_of(make_columns(tools).digest, code=(prompt_parser, query_terms, tokens))
    table = synonym_table(synonyms)
    parser = cache_file.load(file, key, lambda cached: _parser_from_body(cached.values, table))
    if parser is None:
        parser = PromptParser.learn(tools, synonyms)
        cache_file.save(file, cache_file.pack(key, _parser_to_body(parser)))
    return parser


def _parser_from_body(
    body: Mapping[str, Any], table: Mapping[tuple[str, ...], tuple[str, ...]]
) -> PromptParser:
    folders = tuple(FolderVocabulary(*folder) for folder in body["folders"])
    return PromptParser(folders, folder_index(folders, body["written"]), table)


def _parser_to_body(found: PromptParser) -> dict[str, Any]:
    return {
        "folders": [[f.domain, f.action, f.weights] for f in found.folders],
        "written": found.index.vocabulary,
    }
