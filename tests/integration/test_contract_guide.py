"""Every code a module can be refused with is in docs/tool-contract.md, and no other."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
READERS = (
    "core/contract/*.py",
    "core/system/regular_files.py",
    "routing/discovery/tool_path.py",
    "routing/discovery/module_files.py",
    "routing/index/catalogue_builder.py",
)
CODE = re.compile(r'["`]([A-Z][A-Z0-9_]{5,})["`]')


def test_every_reason_code_is_documented():
    package = ROOT / "agents" / "pulsus"
    files = [f for pattern in READERS for f in package.glob(pattern)]
    files.append(package / "routing" / "tool_discovery.py")
    raised = {c for f in files for c in CODE.findall(f.read_text(encoding="utf-8"))}
    guide = (ROOT / "docs" / "tool-contract.md").read_text(encoding="utf-8")
    listed = {
        c for row in re.findall(r"^\| (`[A-Z].*?) \|", guide, re.M) for c in CODE.findall(row)
    }
    assert raised == listed
    assert len(raised) > 20
