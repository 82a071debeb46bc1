"""The edge of the process: which error ends with which status."""

import pytest

from pulsus.cli import command_group, main


@pytest.mark.parametrize("error", [ImportError, SystemError])
def test_ctrl_c_while_a_compiled_module_is_imported_is_no_traceback(monkeypatch, capsys, error):
    def interrupted(args):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as pressed:
            raise error("initialization failed") from pressed

    monkeypatch.setattr(command_group, "run", interrupted)
    with pytest.raises(SystemExit) as ended:
        main.main(["tools", "check"])
    assert ended.value.code == 130
    assert "aborted" in capsys.readouterr().err


def test_ctrl_c_during_a_read_speaks_of_the_read_and_not_of_a_promotion(monkeypatch, capsys):
    def interrupted(args):
        pressed = KeyboardInterrupt()
        pressed.add_note("a/b/tool was ended; it only reads")
        raise pressed

    monkeypatch.setattr(command_group, "run", interrupted)
    with pytest.raises(SystemExit):
        main.main(["run", "a/b/tool"])
    told = "error[ABORTED]: aborted; a/b/tool was ended; it only reads\n"
    assert capsys.readouterr().err == told


def shown(capsys, *args):
    """Return the status and the output of a command line."""
    with pytest.raises(SystemExit) as ended:
        main.main(args)
    return ended.value.code, capsys.readouterr()


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("help", "Usage: pulsus [OPTIONS] [COMMAND]"),
        ("HELP", "Usage: pulsus [OPTIONS] [COMMAND]"),
        ("help run", "Usage: pulsus run "),
        ("help runs undo", "Usage: pulsus runs undo "),
    ],
)
def test_help_and_a_command_show_its_page_instead_of_a_search(capsys, words, page):
    status, said = shown(capsys, *words.split())
    assert (status, said.out.startswith(page)) == (0, True)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("list", "pulsus tools list"),
        ("list --output text", "pulsus tools list"),
        ("undo", "pulsus runs undo"),
        ("version", "pulsus --version"),
        ("help runn", "pulsus run --help"),
        ("help undo", "pulsus runs undo --help"),
        ("help list", "pulsus tools list --help"),
        ("help version", "pulsus --version"),
        ("help tools lst", "pulsus tools list --help"),
        ("help tools nonsense", "pulsus tools --help"),
        ("help tool list", "pulsus tools list --help"),
        ("validat", "pulsus validate"),
        ("compose-evl", "pulsus compose-eval"),
        ("lst", "pulsus tools list"),
        ("lsit", "pulsus tools list"),
        ("versoin", "pulsus --version"),
        ("udno", "pulsus runs undo"),
        ("resmue", "pulsus runs resume"),
        ("hlp", "pulsus --help"),
    ],
)
def test_a_word_that_names_a_command_elsewhere_is_no_request(capsys, words, meant):
    status, said = shown(capsys, *words.split())
    assert (status, f"did you mean `{meant}`?" in said.err) == (2, True)


def test_help_of_an_unknown_command_is_an_error_and_no_search(capsys):
    status, said = shown(capsys, "help", "nope")
    assert (status, said.err.splitlines()) == (
        2,
        [
            "error[USAGE]: no such command 'nope'. If it is a request: pulsus route 'help nope'",
            "  hint: `pulsus --help` lists the commands",
        ],
    )


@pytest.mark.parametrize("words", ["mcp", "MCP", "mcp serve", "help mcp"])
def test_a_part_that_pulsus_lacks_is_named_as_missing_and_not_searched(capsys, words):
    status, said = shown(capsys, *words.split())
    assert (status, "Pulsus has no MCP server. If it is a request" in said.err) == (2, True)
    assert "the HTTP API of `pulsus serve`" in said.err


@pytest.mark.parametrize(
    "request_words",
    [
        *("uptime", "status", "memory", "disks", "services", "lint", "last", "rust", "disk-usage"),
        *("help me", "help disks?", "help with backups", "help run backups", "help me find files"),
        *("list files in /var", "what fills the disk", "how full is /var", "mcp servers on web-03"),
    ],
)
def test_a_request_of_plain_words_is_still_a_request(request_words):
    from pulsus.cli.command_group import cli

    words = request_words.split()
    with cli.make_context("pulsus", words, resilient_parsing=False) as context:
        assert cli.resolve_command(context, words)[0] == "route"


def test_a_broken_import_is_not_called_an_interruption(monkeypatch):
    def broken(args):
        raise ImportError("no such module")

    monkeypatch.setattr(command_group, "run", broken)
    with pytest.raises(ImportError, match="no such module"):
        main.main(["tools", "check"])


@pytest.mark.parametrize(
    ("line", "is_offered"),
    [("--verison", False), ("-x", False), ("--explain", True), ("--no-cache", True)],
)
def test_an_unknown_option_is_not_offered_behind_a_request(capsys, line, is_offered):
    status, said = shown(capsys, line)
    assert (status, "options come last" in said.err) == (2, is_offered)


@pytest.mark.parametrize("line", ["-q", "-vv --non-interactive", "--output text", "--project=/a"])
def test_options_alone_are_not_called_unknown(capsys, line):
    status, said = shown(capsys, *line.split())
    assert (status, said.err.splitlines()) == (
        2,
        [
            f"error[USAGE]: `pulsus {line}` needs a command or a request",
            f'  hint: for example: pulsus "REQUEST" {line}; `pulsus --help` lists the commands',
        ],
    )


@pytest.mark.parametrize("command", ["run biggest_files", "apply a.yaml"])
def test_a_value_without_its_option_is_not_refused_without_the_option(capsys, command):
    status, said = shown(capsys, *command.split(), "--input", "a=b", "folder=/a b", "limit=3")
    assert status == 2
    hint = " ".join(said.err.split())
    assert "hint: write --input 'folder=/a b' --input limit=3; " in hint


def test_a_command_without_inputs_is_not_offered_the_option_for_them(capsys):
    assert "--input" not in shown(capsys, "tools", "show", "df", "a=b")[1].err
