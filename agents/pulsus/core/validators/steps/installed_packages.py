"""Check that the packages which a tool imports are installed for its Python (spec §8; PEP 723).

A missing package or dependency is a finding before anything runs, not a traceback. Effect: looks up
what is installed; starts nothing, fetches nothing. Whether a generated module may import a package
is decided elsewhere (core/compose/guardrails/allowed_imports.py).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from packaging.markers import default_environment
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from pulsus.core.python_source.imports import Import, list_third_party
from pulsus.core.sandbox.interpreter import Interpreter
from pulsus.core.system import strict_toml
from pulsus.core.system.word_lists import WordLists
from pulsus.late_pattern import late_pattern

# https://peps.python.org/pep-0723/#reference-implementation, without its backtracking
_OPEN = late_pattern(r"# /// ([a-zA-Z0-9-]+)[ \t]*\Z")
_CLOSE = "# ///"
MOST_PACKAGES = 100
"""Each name is looked for in every folder of packages: 6,000 of them took 18 s."""
_SOLD_AS = {
    name: package
    for package, names in WordLists(__file__).by_key("installed_as").items()
    for name in names
}
"""The package to install for a name that is imported."""


class HeaderInvalid(ValueError):
    """The PEP 723 header cannot be read; one line says why."""


@dataclass(frozen=True, slots=True)
class Header:
    """The requirements of a PEP 723 header. `python` is None if the header names no version."""

    python: SpecifierSet | None
    packages: tuple[Requirement, ...]


@dataclass(frozen=True, slots=True)
class PackageCheck:
    """`problems` refuse the module; `warnings` are of imports that only some calls need."""

    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def check_packages(text: str, tree: ast.Module, python: Interpreter) -> PackageCheck:
    """Return the unmet parts of the header, and the imports that are not installed."""
    try:
        header = read_header(text)
        unmet = _check_unmet(header, python) if header else ()
    except HeaderInvalid as error:
        return PackageCheck((f"the `# /// script` header: {error}",))
    if unmet:
        return PackageCheck(unmet)
    wanted = [each for each in list_third_party(tree) if not each.optional]
    names = {each.name for each in wanted}
    if len(names) > MOST_PACKAGES:
        text = f"it imports {len(names)} packages; the limit is {MOST_PACKAGES}: split the module"
        return PackageCheck((text,))
    missing = {name for name in names if not python.has(name)}
    absent = [each for each in wanted if each.name in missing]
    return PackageCheck(
        tuple(_describe_absent(each, python) for each in absent if not each.late),
        tuple(_describe_absent(each, python) for each in absent if each.late),
    )


def read_header(text: str) -> Header | None:
    """Return the module's header, or None without one. Raises HeaderInvalid."""
    blocks = list(_list_script_blocks(text.splitlines()))
    if not blocks:
        return None
    if len(blocks) > 1:
        raise HeaderInvalid("it occurs more than once")
    try:
        found = strict_toml.load_toml(blocks[0])
    except strict_toml.TomlError as error:
        raise HeaderInvalid(f"it is not TOML: {error}") from None
    wanted = found.get("dependencies", [])
    if not isinstance(wanted, list) or not all(isinstance(each, str) for each in wanted):
        raise HeaderInvalid("dependencies is no list of texts")
    return Header(
        _parse_python(found.get("requires-python")), tuple(map(_parse_requirement, wanted))
    )


def _list_script_blocks(lines: list[str]) -> list[str]:
    """Return the contents of the blocks of type `script`."""
    found: list[str] = []
    content: list[str] | None = None
    kind = ""
    for line in lines:
        opened = _OPEN.match(line) if content is None else None
        if opened:
            content, kind = [], opened[1]
        elif content is None:
            continue
        elif line.rstrip() == _CLOSE:
            if kind == "script":
                found.append("\n".join(content))
            content = None
        elif line == "#" or line.startswith("# "):
            content.append(line[2:])
        else:
            content = None  # a block must be closed
    return found


def _parse_python(value: object) -> SpecifierSet | None:
    if value is None:
        return None
    try:
        return SpecifierSet(value if isinstance(value, str) else "not text")
    except InvalidSpecifier:
        raise HeaderInvalid(f"requires-python {value!r} is no version specifier") from None


def _parse_requirement(text: str) -> Requirement:
    try:
        return Requirement(text)
    except (InvalidRequirement, RecursionError):
        raise HeaderInvalid(f"dependency {text[:80]!r} is no requirement") from None


def _check_unmet(header: Header, python: Interpreter) -> tuple[str, ...]:
    try:
        return tuple(_list_unmet(header, python))
    except (ValueError, RecursionError) as error:  # an invalid marker or version
        raise HeaderInvalid(f"it cannot be decided: {str(error)[:200]}") from None


def _list_unmet(header: Header, python: Interpreter) -> Iterator[str]:
    if header.python is not None and not _has_allowed_version(header.python, python):
        yield (
            f"needs Python {header.python}; {python.python} is {python.version}: "
            f"name another one in tools.python"
        )
    environment = _marker_environment(python)
    for wanted in header.packages:
        if wanted.marker is not None and not wanted.marker.evaluate(environment):
            continue
        installed = python.installed(wanted.name)
        if installed is None:
            place = _describe_install(wanted, python)
            yield f"needs {_shorten_requirement(wanted)}, not installed in {place}"
        elif not wanted.specifier.contains(installed, prereleases=True):
            place = _describe_install(wanted, python)
            yield f"needs {_shorten_requirement(wanted)}; {installed} is installed in {place}"


def _has_allowed_version(wanted: SpecifierSet, python: Interpreter) -> bool:
    """Return True if the version is allowed. An unknown patch counts as the first and as a late."""
    known = python.version.count(".") >= 2
    versions = (python.version,) if known else (f"{python.version}.0", f"{python.version}.99")
    return any(wanted.contains(version, prereleases=True) for version in versions)


def _marker_environment(python: Interpreter) -> dict[str, str]:
    full = python.version if python.version.count(".") >= 2 else f"{python.version}.0"
    own = {key: str(value) for key, value in default_environment().items()}
    return own | {
        "python_version": ".".join(map(str, python.minor)),
        "python_full_version": full,
        "implementation_version": full,
    }


def _shorten_requirement(wanted: Requirement) -> str:
    extras = f"[{','.join(sorted(wanted.extras))}]" if wanted.extras else ""
    return f"{wanted.name}{extras}{wanted.specifier}"[:200]


def _describe_install(wanted: Requirement, python: Interpreter) -> str:
    return f"{python.python}: {python.python} -m pip install '{_shorten_requirement(wanted)}'"


def _describe_absent(each: Import, python: Interpreter) -> str:
    name = _SOLD_AS.get(each.name, each.name)
    when = " when it is called" if each.late else ""
    return (
        f"line {each.line}: imports {each.name}{when}, which is not installed in "
        f"{python.python}: {python.python} -m pip install {name}"
    )
