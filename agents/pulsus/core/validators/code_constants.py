"""Collects the constants of code: as they stand, decoded, as words and as one text. Pure.

`memorised_examples.py` looks for the results of examples among them.
"""

from __future__ import annotations

import ast
import base64
import binascii
import codecs
import json
import zlib
from collections.abc import Iterator, Sequence

from pulsus.core.contract.module_constants import evaluate_literal, list_parts, make_key
from pulsus.late_pattern import late_pattern

_CONSTANTS = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.JoinedStr)
_LONGEST = 65_536
LEAST_HASH = 6
_WORD = late_pattern(r"\d+|[^\W\d_]+")


class CodeConstants:
    """The constants of some code: as they stand, decoded, and as one text to search."""

    def __init__(self, code: Sequence[ast.AST]) -> None:
        self.keys: set[str] = set()
        self.texts: list[str] = []
        for node in code:
            if isinstance(node, _CONSTANTS):
                self._add_constant(evaluate_literal(node))
        self.whole = "\0".join(self.texts)[: 64 * _LONGEST]
        self.words = {word for text in self.texts for word in _WORD.findall(text)}
        self.words |= {word for name in _list_identifiers(code) for word in _WORD.findall(name)}

    def _add_constant(self, value: object) -> None:
        match value:
            case str() if len(value) <= _LONGEST:
                self._add_text(value)
                for text in _list_decoded_texts(value):
                    self._add_text(text)
            case bytes() if len(value) <= _LONGEST:
                self._add_constant(value.decode("utf-8", "replace"))
            case bool() | int() | float():
                self.keys.add(make_key(value))
            case _:
                pass

    def _add_text(self, text: str) -> None:
        self.keys.add(make_key(text))
        self.texts.append(text)
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return
        for leaf in list_parts(found):
            self.keys.add(make_key(leaf))
            self.texts += [leaf] if isinstance(leaf, str) else []
        self.keys |= {make_key(key) for key in found} if isinstance(found, dict) else set()


def _list_identifiers(code: Sequence[ast.AST]) -> Iterator[str]:
    """Yield names that may stand for an input: a member of an `Enum`, a keyword, a function."""
    for node in code:
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case _:
                pass


def _list_decoded_texts(text: str) -> Iterator[str]:
    """Yield the texts that a text may encode: reversed, rot13, base64, hex, compressed."""
    yield text[::-1]
    if len(text) < LEAST_HASH:
        return
    yield codecs.decode(text, "rot13")
    for decode in (base64.b64decode, bytes.fromhex, base64.b85decode, base64.b32decode):
        try:
            data = decode(text)
        except (ValueError, binascii.Error):
            continue
        yield data.decode("utf-8", "replace")
        try:
            yield zlib.decompressobj().decompress(data, _LONGEST).decode("utf-8", "replace")
        except zlib.error:
            continue
