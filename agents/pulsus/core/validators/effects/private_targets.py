"""Tells whether a call changes only the run's own: temporary files, memory, `/dev/null`. Pure."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from pulsus.core.python_source.module_index import ModuleIndex
from pulsus.core.sandbox.harness.audit_hook import reported_path
from pulsus.core.validators.effects.temporary_files import TemporaryFiles

_TARGETS: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(("rename", "renames", "replace", "move"), (0, 1)),
    **dict.fromkeys(("copy", "copy2", "copyfile", "copytree"), (1,)),
    **dict.fromkeys(("copymode", "copystat"), (1,)),
    "unpack_archive": (1,),
}
"""Functions that change another argument than their first."""
_NAMED_TARGETS = (
    *("dst", "path", "name", "filename", "target", "extract_dir", "dir", "file", "fileobj"),
)
_LINKS = frozenset(("link", "symlink", "symlink_to", "hardlink_to", "link_to"))
"""Functions that make a second path to a file: writes below a folder may then go elsewhere."""
_MAKING_LINKS = frozenset(("symlinks", "follow_symlinks", "filter", "opener"))


class PrivateTargets:
    """Judges the targets that calls of a text change."""

    def __init__(self, module: ModuleIndex) -> None:
        self._module = module
        self._temporary = TemporaryFiles(module)
        self.owns = self._temporary.owns
        self.stays = self._temporary.stays

    def is_own(self, call: ast.Call, last: str = "") -> bool:
        """Return True if everything that the call changes is the run's own."""
        name = last.rpartition(".")[2]
        if name in _LINKS or any(each.arg in _MAKING_LINKS for each in call.keywords):
            return False
        positions = _TARGETS.get(name, (0,))
        targets = [call.args[at] for at in positions if len(call.args) > at]
        targets += [each.value for each in call.keywords if each.arg in _NAMED_TARGETS]
        if name == "rmtree":
            return bool(targets) and all(map(self._temporary.owns_folder, targets))
        return bool(targets) and all(self.owns(each) or self.is_harmless(each) for each in targets)

    def is_own_object(self, node: ast.expr, method: str) -> bool:
        """Return True if an object whose method is called is the run's own."""
        return method not in _LINKS and (self.owns(node) or self.is_harmless(node))

    def is_harmless(self, node: ast.expr) -> bool:
        """Return True for a device such as /dev/null that a constant names."""
        if self._module.keys(node) == {"os.devnull"}:
            return self._module.is_sure(node)
        text = self._module.text(node)
        return text is not None and text.startswith("/dev/") and not reported_path(text)
