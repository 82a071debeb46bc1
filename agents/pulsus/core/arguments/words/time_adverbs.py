"""Adverbs of time: "who logged in recently". They say when, and name nothing. A table only."""

from __future__ import annotations

from typing import Final

from pulsus.core.arguments.words.word_set import word_set

TIME_ADVERBS: Final = word_set("""
    recently lately newly today tonight yesterday tomorrow now nowadays currently earlier later soon
    ago already still again ever never always often sometimes meanwhile afterwards
    """)
