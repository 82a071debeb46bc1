"""Superlatives that order things: "the five biggest files", "top 5". Tables only."""

from __future__ import annotations

from typing import Final

from pulsus.core.arguments.words.word_set import word_set

MOST: Final = word_set("""
    most highest largest biggest greatest top heaviest hungriest busiest longest slowest oldest
    worst fattest greediest maximum max noisiest chattiest loudest fullest latest
    """)
LEAST: Final = word_set("""
    least fewest lowest smallest bottom lightest shortest fastest youngest newest minimum min
    quietest emptiest earliest soonest
    """)
