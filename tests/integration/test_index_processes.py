"""Processes that use one index at the same time never see a partly written one."""

import json
import subprocess
import sys

from pulsus.config.settings import DiscoveryConfig
from pulsus.routing.tool_discovery import discover

WORK = """
import json, sys
from pathlib import Path
from pulsus.config.settings import DiscoveryConfig
from pulsus.routing.index.discovery_index import DiscoveryIndex
from pulsus.routing.tool_discovery import discover

root, state, own = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
config = DiscoveryConfig()
told = []
for turn in range(25):
    if own != "reader":
        file = root / "domains/d" / own / f"t{turn % 5}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        temp = file.with_suffix(".new")
        temp.write_text(f'\"\"\"Tool {own} {turn}.\"\"\"\\ndef run(): ...\\n')
        temp.replace(file)
    cache = DiscoveryIndex(state, max_file_bytes=config.max_file_bytes)
    found = discover(root, config, tmp_dirname="_tmp", cache=cache)
    told += map(str, found.warnings)
    told += [tool.id for tool in found.tools if not tool.summary.startswith("Tool ")]
print(json.dumps(told))
"""


def test_readers_never_see_a_partly_written_index(tmp_path):
    root, state = tmp_path / "workflows", tmp_path / "state"
    (root / "domains").mkdir(parents=True)
    names = ("one", "two", "reader")
    running = [
        subprocess.Popen(
            [sys.executable, "-c", WORK, root, state, name],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for name in names
    ]
    for process in running:
        out, err = process.communicate(timeout=120)
        assert (json.loads(out), err) == ([], b"")
    found = discover(root, DiscoveryConfig(), tmp_dirname="_tmp")
    assert len(found.tools) == 10
    assert len(list((state / "index").glob("discovery-*.values"))) == 1
