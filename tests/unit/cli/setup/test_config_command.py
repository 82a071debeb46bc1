"""`pulsus config show` as programs read it."""

import tomllib

from tests.project import make, pulsus_here


def test_a_long_value_does_not_widen_the_other_lines_of_a_pipe(tmp_path):
    lines = pulsus_here(make(tmp_path / "project", warm=False), "config", "show").out.splitlines()
    long = next(line for line in lines if line.startswith("policy.block "))
    assert len(long) > 200, "its value is whole, on one line"
    assert {line.split()[1] for line in lines[1:]} <= {"default", "config/pulsus.toml"}
    assert max(len(line) for line in lines if "," not in line) < 100


def test_a_value_that_was_copied_into_the_settings_file_is_no_error_there(tmp_path):
    """`False` was shown, and refused in the file."""
    folder = make(tmp_path / "project", warm=False)
    shown = pulsus_here(folder, "config", "show").out.splitlines()[1:]
    known = {
        r["key"]: r["value"]
        for r in pulsus_here(folder, "config", "show", "--output", "json").json["settings"]
    }
    for line in shown:
        key, _, rest = line.split(maxsplit=2)
        if known[key] is None:
            assert rest == "not set"
        else:
            assert tomllib.loads(f"value = {rest}")["value"] == known[key], line
