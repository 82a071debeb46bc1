"""`pulsus config show` as programs read it."""

from tests.project import make, pulsus_here


def test_a_long_value_does_not_widen_the_other_lines_of_a_pipe(tmp_path):
    lines = pulsus_here(make(tmp_path / "project", warm=False), "config", "show").out.splitlines()
    long = next(line for line in lines if line.startswith("policy.block "))
    assert len(long) > 200, "its value is whole, on one line"
    assert {line.split()[1] for line in lines[1:]} <= {"default", "config/pulsus.toml"}
    assert max(len(line) for line in lines if "," not in line) < 100
