"""Settings are changed, read and put back."""

import json
import tomllib

import pytest
import yaml

from tests.changes import change, tree, undo, unverified

SET = "config/edit/set_config_line"
READ = "config/read/config_value"
RESTORE = "config/edit/restore_config"

SSHD = "# The port\n#Port 22\nUsePAM yes\nMatch User git\n  X11Forwarding no\n"
INI = "; top\n[main]\ndebug = yes\nname=a\n\n[other]\ndebug: no\n"
YAML = (
    "# servers\nport: 1\nserver:\n  # inner\n  port: 80  # public\n  hosts: [a, b]\nlist:\n  - x\n"
)
TOML = 'title = "x"\n\n[server]\nport = 80\n\n[client]\nport = 90\n'
JSON = '{\n  "port": 1,\n  "server": {\n    "port": 80,\n    "name": "a"\n  }\n}\n'


@pytest.mark.parametrize(
    ("name", "text", "inputs", "wanted"),
    [
        ("sshd_config", SSHD, {"key": "UsePAM", "value": "no"}, SSHD.replace("yes", "no")),
        (
            "sshd_config",
            SSHD,
            {"key": "Port", "value": "2222"},
            SSHD.replace("#Port 22\n", "#Port 22\nPort 2222\n"),
        ),
        (
            "sshd_config",
            SSHD,
            {"key": "LogLevel", "value": "VERBOSE"},
            SSHD.replace("Match", "LogLevel VERBOSE\nMatch"),
        ),
        (
            "app.ini",
            INI,
            {"key": "debug", "value": "no", "section": "main"},
            INI.replace("debug = yes", "debug = no"),
        ),
        ("app.ini", INI, {"key": "name", "value": "b c"}, INI.replace("name=a", "name=b c")),
        (
            "app.ini",
            INI,
            {"key": "level", "value": "3", "section": "main"},
            INI.replace("name=a\n", "name=a\nlevel = 3\n"),
        ),
        (".env", "export A=1\nB=2\n", {"key": "A", "value": "'x y'"}, "export A='x y'\nB=2\n"),
        (".env", "A=1", {"key": "NEW", "value": "2"}, "A=1\nNEW=2\n"),
        (
            "a.conf",
            "max = 5\r\nmin = 1\r\n",
            {"key": "max", "value": "6"},
            "max = 6\r\nmin = 1\r\n",
        ),
        (
            "a.yaml",
            YAML,
            {"key": "port", "value": "8080", "section": "server"},
            YAML.replace("port: 80 ", "port: 8080 "),
        ),
        ("a.yaml", YAML, {"key": "port", "value": "2"}, YAML.replace("port: 1", "port: 2")),
        ("a.yaml", YAML, {"key": "new", "value": "x: y"}, YAML + 'new: "x: y"\n'),
        (
            "a.toml",
            TOML,
            {"key": "port", "value": "91", "section": "client"},
            TOML.replace("90", "91"),
        ),
        (
            "a.toml",
            TOML,
            {"key": "title", "value": "new title"},
            TOML.replace('"x"', '"new title"'),
        ),
        (
            "a.json",
            JSON,
            {"key": "port", "value": "81", "section": "server"},
            JSON.replace("80", "81"),
        ),
        (
            "a.json",
            JSON,
            {"key": "name", "value": "b", "section": "server"},
            JSON.replace('"a"', '"b"'),
        ),
    ],
)
def test_one_setting_changes_and_undo_gives_the_same_bytes_back(
    tmp_path, name, text, inputs, wanted
):
    file = tmp_path / name
    file.write_bytes(text.encode())
    file.chmod(0o640)
    inputs = {"path": str(file), **inputs}
    result = change(SET, **inputs)
    assert file.read_bytes().decode() == wanted
    assert file.stat().st_mode & 0o777 == 0o640
    assert wanted.splitlines()[result["line"] - 1] not in text.splitlines()
    again = change(SET, **inputs)
    assert (again["changed"], again["backup"]) == (False, "")
    undo(SET, inputs, result)
    assert file.read_bytes().decode() == text


def test_set_config_line_changes_nothing_in_a_dry_run(load, tmp_path):
    file = tmp_path / "sshd_config"
    file.write_text(SSHD, encoding="utf-8")
    before = tree(tmp_path)
    result = load(SET).run(str(file), "UsePAM", "no", dry_run=True)
    assert (result["changed"], result["line"], result["backup"]) == (True, 3, "")
    assert tree(tmp_path) == before


def test_the_backup_has_the_old_text_and_mode(tmp_path, load):
    file = tmp_path / "a.conf"
    file.write_text("key old\n", encoding="utf-8")
    file.chmod(0o600)
    backup = tmp_path / load(SET).run(str(file), "key", "new")["backup"]
    assert backup.read_text(encoding="utf-8") == "key old\n"
    assert backup.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.conf", backup.name]


def test_a_link_keeps_pointing_to_the_changed_file(tmp_path):
    (tmp_path / "real.conf").write_text("key old\n", encoding="utf-8")
    (tmp_path / "link.conf").symlink_to("real.conf")
    change(SET, path=str(tmp_path / "link.conf"), key="key", value="new")
    assert (tmp_path / "link.conf").is_symlink()
    assert (tmp_path / "real.conf").read_text(encoding="utf-8") == "key new\n"


@pytest.mark.parametrize(
    ("name", "text", "inputs", "message"),
    [
        ("a.ini", INI, {"key": "debug", "value": "x"}, "is set in the lines 3, 7"),
        ("a.ini", INI, {"key": "fresh", "value": "x"}, "name the section"),
        ("a.ini", INI, {"key": "k", "value": "x", "section": "none"}, "does not exist"),
        ("a.json", "{", {"key": "k", "value": "x"}, "is no valid json"),
        ("a.yaml", "a: [", {"key": "a", "value": "x"}, "is no valid yaml"),
        ("a.toml", "a = ", {"key": "a", "value": "x"}, "is no valid toml"),
        ("a.json", JSON, {"key": "fresh", "value": "x"}, "no line sets fresh by itself"),
        ("a.yaml", YAML, {"key": "k", "value": "x", "section": "port"}, "holds no keys"),
        ("a.conf", "a b\n", {"key": "a", "value": "b\nc d"}, "one line"),
        ("a.conf", "a b\n", {"key": " ", "value": "b"}, "one line"),
        ("a.conf", "a b\n", {"key": "a", "value": "b", "kind": "xml"}, "is not known"),
    ],
)
def test_a_setting_that_is_not_certain_is_refused(load, tmp_path, name, text, inputs, message):
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        load(SET).run(str(file), **inputs)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert file.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("value", ["true", "'#'", "a # b", "- x", "{", "null", "ü ö", "5", "[1]"])
@pytest.mark.parametrize(
    ("name", "text", "read"),
    [("a.yaml", "k: 1\n", yaml.safe_load), ("a.toml", "k = 1\n", tomllib.loads),
     ("a.json", '{"k": 1}\n', json.loads)],
)  # fmt: skip
def test_no_value_breaks_a_file_that_a_parser_reads(load, tmp_path, name, text, read, value):
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    try:
        change(SET, path=str(file), key="k", value=value)
    except ValueError:
        assert file.read_text(encoding="utf-8") == text
    else:
        assert set(read(file.read_text(encoding="utf-8"))) == {"k"}


def test_a_change_is_unverified_if_the_setting_has_another_value(load, tmp_path):
    file = tmp_path / "a.conf"
    file.write_text("key old\n", encoding="utf-8")
    inputs = {"path": str(file), "key": "key", "value": "new"}
    result = load(SET).run(**inputs)
    file.write_text("key other\n", encoding="utf-8")
    assert "matches" in unverified(SET, inputs, result)


def test_config_value_finds_each_kind_and_hides_secrets(load, tmp_path):
    tool = load(READ)
    for name, text in (("a.ini", INI), ("a.yaml", YAML), ("a.toml", TOML), ("a.json", JSON)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert tool.run(str(tmp_path / "a.ini"), "debug")["value"] == ["yes", "no"]
    assert tool.run(str(tmp_path / "a.ini"), "debug", "other")["lines"] == [7]
    assert tool.run(str(tmp_path / "a.yaml"), "hosts", "server")["value"] == ["a", "b"]
    assert tool.run(str(tmp_path / "a.toml"), "port", "client")["value"] == 90
    assert tool.run(str(tmp_path / "a.json"), "absent")["found"] is False
    (tmp_path / ".env").write_text("DB_PASSWORD=hunter2\n", encoding="utf-8")
    result = tool.run(str(tmp_path / ".env"), "DB_PASSWORD", expected="hunter2")
    assert (result["value"], result["masked"], result["matches"]) == ("***", True, True)
    with pytest.raises(FileNotFoundError):
        tool.run(str(tmp_path / "absent"), "k")


@pytest.mark.parametrize(
    ("name", "text", "inputs", "value"),
    [
        ("a.yaml", "db: {host: x, password: p1}", {"key": "db"}, {"host": "x", "password": "***"}),
        ("a.yaml", "secrets: {db: p1}", {"key": "db", "section": "secrets"}, "***"),
        (
            "a.json",
            '{"env": [{"name": "API_TOKEN", "value": "p1"}]}',
            {"key": "env"},
            [{"name": "API_TOKEN", "value": "***"}],
        ),
        (".env", "DB_PASS=p1", {"key": "DB_PASS"}, "***"),
        (".env", "URL=redis://:p1@cache/0", {"key": "URL"}, "redis://:***@cache/0"),
    ],
)
def test_config_value_hides_each_secret_in_a_value(load, tmp_path, name, text, inputs, value):
    (tmp_path / name).write_text(text, encoding="utf-8")
    result = load(READ).run(str(tmp_path / name), **inputs)
    assert (result["value"], result["masked"]) == (value, True)


def test_restore_config_keeps_the_replaced_file_and_can_be_undone(load, tmp_path):
    file, old = tmp_path / "a.conf", tmp_path / "a.conf.1.bak"
    file.write_text("new", encoding="utf-8")
    old.write_text("old", encoding="utf-8")
    before = tree(tmp_path)
    inputs = {"path": str(file), "backup": str(old)}
    assert load(RESTORE).run(**inputs, dry_run=True)["changed"] is True
    assert tree(tmp_path) == before
    result = change(RESTORE, **inputs)
    assert file.read_text(encoding="utf-8") == "old"
    assert change(RESTORE, **inputs)["changed"] is False
    change(RESTORE, path=str(file), backup=result["backup"])
    assert file.read_text(encoding="utf-8") == "new"


def test_restore_config_refuses_a_backup_from_elsewhere_and_links(load, tmp_path):
    file = tmp_path / "a.conf"
    file.write_text("new", encoding="utf-8")
    (tmp_path / "link.bak").symlink_to("/etc/passwd")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/b.bak").write_text("x", encoding="utf-8")
    for backup, message in (
        ("/etc/passwd", "is not beside"),
        (str(tmp_path / "sub/b.bak"), "is not beside"),
        (str(file), "is not beside"),
        (str(tmp_path / "link.bak"), "no regular file"),
    ):
        with pytest.raises(ValueError, match=message):
            load(RESTORE).run(str(file), backup)
    with pytest.raises(FileNotFoundError):
        load(RESTORE).run(str(file), str(tmp_path / "gone.bak"))
    assert file.read_text(encoding="utf-8") == "new"


NESTED = "db:\n  pool: 5\n  host: a\nname: x\n"


@pytest.mark.parametrize(
    ("inputs", "told"),
    [
        ({"key": "db.pool", "value": "10"}, "use key 'pool' with section 'db'"),
        ({"key": "db.size", "value": "10"}, "use key 'size' with section 'db'"),
        ({"key": "host", "value": "b"}, "name its section, db"),
    ],
)
def test_a_key_below_another_one_is_not_added_at_the_top(load, tmp_path, inputs, told):
    for name, text in (
        ("app.yaml", NESTED),
        ("app.toml", 'name = "x"\n[db]\npool = 5\nhost = "a"\n'),
    ):
        file = tmp_path / name
        file.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=told):
            load(SET).run(path=str(file), **inputs)
        assert file.read_text(encoding="utf-8") == text


def test_a_new_top_key_with_a_dot_is_still_added(load, tmp_path):
    file = tmp_path / "app.yaml"
    file.write_text(NESTED, encoding="utf-8")
    load(SET).run(path=str(file), key="log.level", value="debug")
    assert file.read_text(encoding="utf-8") == f"{NESTED}log.level: debug\n"


@pytest.mark.parametrize(
    ("name", "written", "value", "wanted"),
    [
        ("app.toml", "hosts = 1\n", '["a", "b"]', 'hosts = ["a", "b"]\n'),
        ("app.toml", "hosts = 1\n", "info", 'hosts = "info"\n'),
        ("app.json", '{\n  "hosts": 1\n}\n', "[1, 2]", '{\n  "hosts": [1, 2]\n}\n'),
        ("app.yaml", "hosts: 1\n", "[a, b]", "hosts: [a, b]\n"),
        ("app.yaml", "hosts: 1\n", "{a: 1}", "hosts: {a: 1}\n"),
        ("app.yaml", "hosts: 1\n", "info", "hosts: info\n"),
        ("app.yaml", "hosts: 1\n", "a: b", 'hosts: "a: b"\n'),
        ("app.yaml", "hosts: 1\n", "#fff", 'hosts: "#fff"\n'),
    ],
)
def test_a_value_is_set_as_it_stands_or_quoted_if_it_is_a_text(
    tmp_path, name, written, value, wanted
):
    """A list became a text in quotes, and a colour such as #fff became null."""
    file = tmp_path / name
    file.write_text(written, encoding="utf-8")
    change(SET, path=str(file), key="hosts", value=value)
    assert file.read_text(encoding="utf-8") == wanted
