"""Hostile modules that were written from the documentation alone, the code unread.

Each file says in its first lines what a perfect validator would do. `OPEN` are accepted today; none
of them has an effect outside the sandbox, and confinement holds them at run time.
"""

import json
import re
from pathlib import Path

import pytest

from tests.patience import PATIENCE_SECONDS
from tests.project import pulsus
from tests.sandboxes import need_sandbox

FIXTURES = Path(__file__).parents[1] / "fixtures"
OPEN = {
    "a path, host or program that only code which a dry run never reaches puts together": {
        *("alias_map_unlink", "alias_partial_open", "fold_dataclass_default", "fold_loop_of_names"),
        *("fold_percent_template", "unreached_logging_filehandler", "unreached_profile_dump"),
        *("unreached_proxy_call", "unreached_socket_handler", "unreached_sqlite_attach"),
        *("unreached_zip_extract", "unreached_find_delete", "unreached_undeclared_program"),
        *("chance_bomb", "date_bomb", "sqlite_vacuum_into"),
    },
    "the sandbox can be told from a real machine": {
        *("detect_single_interface", "detect_small_tmp", "swap_code_object"),
    },
    "look-ups of the C library are left out": {"exempt_nscd_native", "exempt_resolver_packet"},
    "threads and the clock of a busy machine": {"left_raw_thread", "cpu_regex_backtracking"},
}


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.sandbox
@pytest.mark.parametrize("lot", ["blind_modules_1", "blind_modules_2"])
def test_hostile_modules_of_a_blind_lot_are_refused_and_controls_accepted(tmp_path, lot):
    need_sandbox()
    outside, project = tmp_path / "outside", tmp_path / "project"
    places = {"OUTSIDE": outside, "REPO": project, "HOME": tmp_path / "home", "TOKEN": "t0ken"}
    for folder in (outside, project / "workflows", tmp_path / "home"):
        folder.mkdir(parents=True)
    (outside / "canary.txt").write_text("untouched", encoding="utf-8")
    wanted = {}
    for path in sorted((FIXTURES / lot).glob("*.case")):
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        wanted[path.stem] = (
            text.startswith("# expect: accepted"),
            "exit=nonzero" in text.partition('"""')[0],
        )
        filled = re.sub(r"@@([A-Z]+)@@", lambda found: str(places[found[1]]), text)
        (project / f"{path.stem}.py").write_bytes(filled.encode("utf-8", "surrogateescape"))
    files = sorted(project.glob("*.py"))
    accepted = set()
    for start in range(0, len(files), 12):
        some = files[start : start + 12]
        # A part with modules that take all they are allowed takes a minute or more.
        done = pulsus(project, "validate", *some, "--output", "json", seconds=12 * PATIENCE_SECONDS)
        accepted |= {Path(m["path"]).stem for m in json.loads(done.out)["modules"] if m["ok"]}
    known = set().union(*OPEN.values())
    always = (known - OPEN["threads and the clock of a busy machine"]) & wanted.keys()
    assert {name for name, (control, _) in wanted.items() if control} <= accepted
    assert {name for name, (_, refused) in wanted.items() if refused} & accepted <= known
    assert always <= accepted, f"refused by now, so no longer open: {sorted(always - accepted)}"
    assert (outside / "canary.txt").read_text(encoding="utf-8") == "untouched"
    assert [path.name for path in outside.iterdir()] == ["canary.txt"]
