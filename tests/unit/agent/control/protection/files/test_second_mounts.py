"""A mount is no way around the protection of Pulsus's own files."""

from pathlib import Path

import pytest

from pulsus.agent.control.protection.files.protected_places import ProtectedPlaces
from pulsus.agent.control.protection.files.second_mounts import (
    MountTable,
    names_by_mounts,
    parse_mounts,
)

DISK = "28 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw"
DATA = "29 28 8:2 / /srv rw,relatime - ext4 /dev/sdb1 rw"
STATE = "/srv/app/.pulsus"


def mounted(root, point, device="8:2"):
    return f"40 28 {device} {root} {point} rw,relatime - ext4 /dev/x rw"


def places(*lines):
    table = "\n".join([DISK, DATA, *lines]) + "\n"
    return ProtectedPlaces(
        [Path(STATE)],
        folder=Path("/srv/app"),
        project=Path("/srv/app"),
        resolve=lambda path: path,
        read_mounts=lambda: table,
    )


@pytest.mark.parametrize(
    ("mount", "path"),
    [
        (mounted("/app/.pulsus/state.db", "/tmp/notes"), "/tmp/notes"),
        (mounted("/app/.pulsus/audit", "/mnt/a"), "/mnt/a/log.jsonl"),
        (mounted("/app/.pulsus", "/mnt/s"), "/mnt/s/state.db"),
        (mounted("/app", "/mnt/project"), "/mnt/project/.pulsus/state.db"),
        (mounted("/", "/mnt/disk"), "/mnt/disk/app/.pulsus/state.db"),
        (mounted("/app/.pulsus", "/mnt/two\\040words"), "/mnt/two words/state.db"),
    ],
)
def test_a_file_of_pulsus_is_not_open_under_a_second_mount(mount, path):
    assert places(mount).find(path) == "inside"


def test_a_search_around_a_second_mount_does_not_show_what_is_mounted():
    assert places(mounted("/app/.pulsus/audit", "/mnt/a")).find("/mnt") == "above"
    assert places(mounted("/app", "/mnt/project")).find("/mnt/project") == "above"


@pytest.mark.parametrize(
    ("mount", "path"),
    [
        (mounted("/app/.pulsus", "/mnt/s", device="8:3"), "/mnt/s/state.db"),
        (mounted("/app/.pulsus-old", "/mnt/s"), "/mnt/s/state.db"),
        (mounted("/app", "/mnt/project"), "/mnt/project/README.md"),
        (mounted("/logs", "/mnt/logs"), "/mnt/logs/a.log"),
    ],
)
def test_other_files_stay_readable_beside_second_mounts(mount, path):
    assert places(mount).find(path) is None


def test_the_mount_that_is_seen_decides_where_a_place_is():
    table = parse_mounts("\n".join([DISK, DATA, mounted("/", "/srv", device="8:9")]))
    (name,) = names_by_mounts(
        [STATE], (*table, *parse_mounts(mounted("/app", "/mnt/p", device="8:9")))
    )
    assert name == "/mnt/p/.pulsus"


def test_a_mount_made_while_the_agent_works_is_seen_within_a_second():
    tables, now = [DISK], [0.0]
    table = MountTable(["/srv/x"], lambda: tables[-1], lambda: now[0])
    assert table.names() == ()
    tables.append("\n".join([DISK, mounted("/srv/x", "/mnt/x", device="8:1")]))
    now[0] = 1.0
    assert table.names() == ("/mnt/x",)


def test_a_damaged_or_absent_table_adds_no_name():
    assert parse_mounts("") == ()
    assert names_by_mounts([STATE], parse_mounts("1 2\nnonsense\n")) == ()
