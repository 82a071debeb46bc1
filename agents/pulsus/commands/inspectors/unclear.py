"""What an inspector raises within itself where a text is not seen to read."""

from __future__ import annotations


class Unclear(Exception):
    """`word` is where a text does more than read, or cannot be followed: the `rule`."""

    def __init__(self, word: str, rule: str) -> None:
        super().__init__(f"{word}: {rule}")
        self.word, self.rule = word, rule
