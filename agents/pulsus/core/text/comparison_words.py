"""Words of a request that compare: "older than 3 days". Parts of patterns only.

"Slower" and "faster" are in neither list: a time and a rate that they compare have opposite sides.
"""

from __future__ import annotations

from typing import Final

SMALLER: Final = r"(?:less|fewer|smaller|lower|lighter|shorter|newer|younger|tinier|emptier)"
"""Words before "than" that make an upper bound."""

LARGER: Final = r"(?:more|greater|larger|bigger|higher|heavier|longer|older|fuller)"
"""Words before "than" that make a lower bound."""

COMPARED_THAN: Final = rf"(?:{SMALLER}|{LARGER}|slower|faster|worse)\s+than"
"""A comparison, whatever its side."""
