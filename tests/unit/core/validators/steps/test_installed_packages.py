"""Packages a tool needs, against the Python it runs with (PEP 723, spec §8)."""

import ast
import sys

import pytest

from pulsus.core.python_source.imports import list_third_party
from pulsus.core.sandbox.interpreter import NoInterpreter, own_interpreter, read_interpreter
from pulsus.core.validators.steps.installed_packages import HeaderInvalid, check_packages
from pulsus.core.validators.steps.installed_packages import read_header as header
from pulsus.core.validators.steps.static_gate import run_static_gate
from tests.candidates import DOCUMENTED, tool_of


def python(folder, *, minor="3.12", patch="3.12.4", packages=(), venv=False):
    """An interpreter's files as they lie on a disk; nothing of it can be started."""
    base = folder / "base"
    library = base / "lib" / f"python{minor}"
    (library / "site-packages").mkdir(parents=True)
    (library / "os.py").write_text("")
    (base / "bin").mkdir()
    program = base / "bin" / f"python{minor}"
    program.write_text("#!/bin/sh\nexit 99\n")
    program.chmod(0o755)
    site = library / "site-packages"
    if venv:
        prefix = folder / "venv"
        site = prefix / "lib" / f"python{minor}" / "site-packages"
        site.mkdir(parents=True)
        (prefix / "bin").mkdir()
        (prefix / "pyvenv.cfg").write_text(f"home = {base / 'bin'}\nversion = {patch}\n")
        (prefix / "bin" / "python").symlink_to(program)
        program = prefix / "bin" / "python"
    for name, version in packages:
        (site / name).mkdir()
        info = site / f"{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
    return read_interpreter(program)


def script(*dependencies, requires=""):
    lines = [f"# dependencies = {list(dependencies)!r}".replace("'", '"')]
    if requires:
        lines.append(f'# requires-python = "{requires}"')
    return "\n".join(("# /// script", *lines, "# ///", ""))


def problems(text, interpreter):
    return check_packages(text, ast.parse(text), interpreter).problems


@pytest.mark.parametrize(
    ("text", "late", "optional"),
    [
        pytest.param("import other.part", False, False, id="plain"),
        pytest.param("from other import x", False, False, id="from"),
        pytest.param("def f():\n    import other", True, False, id="in a function"),
        pytest.param("class A:\n    import other", False, False, id="in a class"),
        pytest.param("try:\n    import other\nexcept ImportError: ...", False, True, id="tried"),
        pytest.param("try:\n    import other\nexcept OSError: ...", False, False, id="not caught"),
        pytest.param(
            "import contextlib\nwith contextlib.suppress(ImportError):\n    import other",
            *(False, True),
            id="suppressed",
        ),
    ],
)
def test_an_import_says_whether_the_module_can_do_without(text, late, optional):
    (found,) = list_third_party(ast.parse(text))
    assert (found.name, found.late, found.optional) == ("other", late, optional)


def test_the_standard_library_and_what_checkers_alone_see_are_no_third_party():
    text = "import os, json\nfrom . import x\nimport pulsus.steps\n"
    text += "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import other\n"
    assert list_third_party(ast.parse(text)) == ()


def test_a_missing_package_of_the_header_is_a_finding_with_its_fix(tmp_path):
    found = python(tmp_path)
    (line,) = problems(script("requests>=2"), found)
    assert "needs requests>=2, not installed in" in line
    assert f"{found.python} -m pip install 'requests>=2'" in line


def test_another_version_than_the_header_wants_is_a_finding(tmp_path):
    found = python(tmp_path, packages=[("requests", "1.2")])
    assert "needs requests>=2; 1.2 is installed" in problems(script("requests>=2"), found)[0]
    assert problems(script("requests>=1"), found) == ()


def test_a_dependency_for_another_platform_or_python_is_not_needed(tmp_path):
    found = python(tmp_path)
    text = script("nothere; sys_platform == 'win32'".replace("'", "`")).replace("`", "'")
    assert problems(text, found) == ()
    old = script("nothere; python_version < `3.12`").replace("`", "'")
    assert problems(old, found) == ()
    new = script("nothere; python_version >= `3.12`").replace("`", "'")
    assert len(problems(new, found)) == 1


def test_the_wrong_python_is_a_finding(tmp_path):
    found = python(tmp_path, venv=True)
    assert "needs Python >=3.13" in problems(script(requires=">=3.13"), found)[0]
    assert "3.12.4" in problems(script(requires=">=3.13"), found)[0]
    assert problems(script(requires=">=3.11"), found) == ()


def test_an_unknown_patch_is_given_the_benefit_of_the_doubt(tmp_path):
    found = python(tmp_path)
    assert found.version == "3.12"
    assert problems(script(requires=">=3.12.3"), found) == ()
    assert problems(script(requires="<3.12"), found) != ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("# /// script\n# dependencies = [\n# ///\n", "no", id="not toml"),
        pytest.param('# /// script\n# dependencies = "x"\n# ///\n', "no list", id="no list"),
        pytest.param(script("=x"), "no requirement", id="no requirement"),
        pytest.param(script(requires="new"), "no version specifier", id="no specifier"),
        pytest.param(script() + "\n" + script(), "more than once", id="twice"),
    ],
)
def test_a_header_that_cannot_be_read_is_refused(text, said):
    with pytest.raises(HeaderInvalid, match=said):
        header(text)


@pytest.mark.parametrize(
    "wanted",
    [
        pytest.param("a; " + "(" * 5000 + "os_name=='x'" + ")" * 5000, id="deep"),
        pytest.param("a; os_name ~= 'x'", id="a comparison that is none"),
        pytest.param(f"a; python_version > '{'9' * 5000}'", id="endless number"),
    ],
)
def test_an_undecidable_requirement_is_a_finding_and_no_crash(wanted):
    text = f'# /// script\n# dependencies = ["{wanted}"]\n# ///\n'
    (problem,) = check_packages(text, ast.parse(text), own_interpreter()).problems
    assert problem.startswith("the `# /// script` header: ")
    assert len(problem) < 400


def test_a_header_of_another_type_and_an_open_one_are_none():
    assert header("# /// other\n# x = 1\n# ///\n") is None
    assert header("# /// script\n# x = 1\nx = 1\n") is None


def test_an_import_that_is_not_installed_is_a_finding_that_names_the_module(tmp_path):
    found = python(tmp_path, packages=[("requests", "2.0")])
    assert problems("import requests", found) == ()
    (line,) = problems("import yaml", found)
    assert "line 1: imports yaml" in line
    assert "pip install PyYAML" in line


def test_an_import_that_only_some_calls_need_is_a_warning(tmp_path):
    text = "def run():\n    import nothere"
    found = check_packages(text, ast.parse(text), python(tmp_path))
    assert found.problems == ()
    assert "when it is called" in found.warnings[0]


def test_a_virtual_environment_sees_its_own_packages_and_not_its_bases(tmp_path):
    found = python(tmp_path, venv=True, packages=[("requests", "2.0")])
    below = tmp_path / "base" / "lib" / "python3.12" / "site-packages" / "hidden"
    below.mkdir()
    assert found.installed("requests") == "2.0"
    assert not found.has("hidden")
    assert found.prefixes == (tmp_path / "venv", tmp_path / "base")


@pytest.mark.parametrize(
    ("minor", "said"),
    [
        pytest.param("3.9", "Python 3.9", id="too old"),
        pytest.param("3.x", "is not a Python", id="none"),
    ],
)
def test_an_interpreter_that_cannot_run_tools_is_refused(tmp_path, minor, said):
    with pytest.raises(NoInterpreter, match=said):
        python(tmp_path, minor=minor)


def test_a_path_without_a_program_is_refused(tmp_path):
    with pytest.raises(NoInterpreter, match="is not an executable file"):
        read_interpreter(tmp_path / "python")


def test_the_named_interpreter_is_never_started(tmp_path):
    found = python(tmp_path)
    ran = tmp_path / "ran"
    found.python.write_text(f"#!/bin/sh\ntouch {ran}\n")
    read_interpreter.cache_clear()
    assert read_interpreter(found.python).minor == (3, 12)
    assert not ran.exists()


def test_our_own_python_has_what_pulsus_needs():
    assert own_interpreter().python.as_posix() == sys.executable
    assert own_interpreter().has("click")
    assert own_interpreter().installed("click")
    assert not own_interpreter().has("surely_not_installed_anywhere")


def test_the_gate_refuses_a_module_whose_package_is_missing():
    source = DOCUMENTED.replace("def run", "import surely_not_installed\n\n\ndef run")
    found = run_static_gate(source.encode(), tool_of(source), max_bytes=99_999, steps={})
    assert not found.ok
    assert "surely_not_installed, which is not installed" in found.message
