"""Words that begin, join or end a phrase of a request. Tables only."""

from __future__ import annotations

from typing import Final

from pulsus.core.arguments.words.word_set import word_set

INSIDE_NAMES: Final = word_set("of the de la le van von der and & del di for in on du")
"""Lower-case words that may stand inside a name: `Museum of Modern Art`."""

BETWEEN_PHRASES: Final = word_set("""
    a an the of in on at by for from to with about into and or but is are was were be been has have
    had do does did will would can could should may might must i you he she it we they me my your
    his her its our their this that these those what which who whom whose when where why how if than
    then there as so please not no any some all using use via named called titled between near
    around like under over above below within without during after before since until per want need
    know tell give show get find let us also just whether am being
    """)
"""Words that are part of no phrase."""

FIRST_IN_SENTENCE: Final = word_set("""
    find get give show tell list check calculate compute what how when where who which can could is
    are do does please i hi hey hello retrieve provide search display fetch generate create make
    predict determine book order send add delete update convert translate evaluate identify analyze
    help compare estimate look play schedule set turn remove register
    """)
"""Words that a request begins with: their capital letter makes no name."""

ALSO_NAMES: Final = frozenset(("play", "book", "set", "order"))
"""Words of FIRST_IN_SENTENCE that a name may begin with: `Play Store`."""

TITLES: Final = frozenset(("Mr", "Mrs", "Ms", "Dr", "St", "Prof"))
