"""After any change of files, the warm index equals a cold one (spec §13)."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from pulsus.config.settings import DiscoveryConfig
from pulsus.core.contract.tool_table import make_columns
from pulsus.routing.index.discovery_index import DiscoveryIndex
from pulsus.routing.tool_discovery import discover
from tests.example_counts import examples

CONFIG = DiscoveryConfig(max_file_bytes=2000)
LATER = 9 * 10**18

PATHS = st.sampled_from(
    [
        "domains/d/a/x.py",
        "domains/d/a/y.py",
        "domains/d/a/sub/x.py",
        "domains/d/b/x.py",
        "domains/e/a/x.py",
        "domains/wrong.py",
        "shared_tools/a/x.py",
        "shared_tools/a/z z.py",
        "domains/d/a/x.tool.yaml",
        "domains/d/a/tool.yaml",
        "domains/d/a/y.tool.toml",
        "shared_tools/a/x.tool.yaml",
    ]
)
TEXTS = st.sampled_from(
    [
        '"""Sum one."""\ndef run(a: int = 1): ...\n',
        '"""Sum two."""\ndef run(b: str): ...\n',
        '"""Sum one."""\ndef run(a, a): ...\n',
        "intents: [one]\n",
        "intents: [two]\nunknown: 1\n",
        'intents = ["three"]\n',
        "x" * 3000,
        "",
    ]
)
EDITS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), PATHS, TEXTS),
        st.tuples(st.just("remove"), PATHS, st.none()),
        st.tuples(st.just("remove folder"), st.just("domains/d/a"), st.none()),
        st.tuples(st.just("link"), PATHS, PATHS),
        st.tuples(st.just("move"), PATHS, PATHS),
    ),
    max_size=6,
)


def apply(root, edit):
    what, name, other = edit
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if what == "write":
        path.unlink(missing_ok=True) if path.is_symlink() else None
        path.write_text(other, encoding="utf-8")
    elif what == "remove":
        path.unlink(missing_ok=True)
    elif what == "remove folder":
        shutil.rmtree(path, ignore_errors=True)
    elif what == "link" and name != other:
        path.unlink(missing_ok=True)
        path.symlink_to(root / other)
    elif what == "move" and path.exists():
        (root / other).parent.mkdir(parents=True, exist_ok=True)
        path.replace(root / other)


@settings(max_examples=examples(60), deadline=None)
@given(rounds=st.lists(EDITS, min_size=1, max_size=4), settled=st.booleans())
def test_an_incremental_index_equals_a_cold_one(rounds, settled):
    with tempfile.TemporaryDirectory() as folder:
        root, state = Path(folder, "workflows"), Path(folder, "state")
        root.mkdir()
        for edits in rounds:
            for edit in edits:
                apply(root, edit)
            now = (lambda: LATER) if settled else (lambda: 0)
            cache = DiscoveryIndex(state, max_file_bytes=CONFIG.max_file_bytes, now_ns=now)
            warm = discover(root, CONFIG, tmp_dirname="_tmp", cache=cache)
            cold = discover(root, CONFIG, tmp_dirname="_tmp")
            assert warm == cold
            assert make_columns(warm.tools) == make_columns(tuple(cold.tools))
