"""Tool modules that were written from the documentation alone, the code unread: five lots.

The first lines of each say what a perfect validator would do. `OPEN` are accepted; at run time
confinement holds them. Modules of more than 60 kB, which only strain the reader, are left out.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

FIXTURES = Path(__file__).parent / "fixtures"
LOTS = tuple(f"blind_modules_{number}" for number in range(1, 6))
OPEN = {
    "what a declared program does with its words": {"unreached_find_delete", "prog_sed_in_place"},
    "constant paths below /tmp, where the folders of tests lie": {
        *("decl_constant_class", "decl_constant_default"),
    },
    "an example that fills a pattern, and paths declared in words": {
        *("decl_glob_argument", "decl_words_root"),
    },
    "the clock of a busy machine": {"cpu_regex_backtracking"},
    "an honest table may look the same, so the proof is shape": {
        *("tab_enum", "tab_json", "tab_match", "tab_missing", "tab_text", "tab_zip"),
        *("proof_enum_table", "proof_parallel_lists"),
    },
}


class Module(NamedTuple):
    """One module of a lot."""

    name: str
    source: str

    @property
    def honest(self):
        """True if it has to be accepted."""
        return "# expect: accepted" in self.source.partition('"""')[0]

    @property
    def must_be_refused(self):
        """True if being contained is not enough."""
        return "exit=nonzero" in self.source.partition('"""')[0]

    def filled(self, places):
        """Its bytes, with the places of one run."""
        text = re.sub(r"@@([A-Z]+)@@", lambda found: str(places[found[1]]), self.source)
        return text.encode("utf-8", "surrogateescape")


@cache
def modules(lot):
    """The modules of a lot, by name."""
    text = (FIXTURES / f"{lot}.jsonl").read_text(encoding="utf-8")
    return tuple(Module(**json.loads(line)) for line in text.splitlines())
