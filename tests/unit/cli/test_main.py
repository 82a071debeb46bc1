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


def test_a_broken_import_is_not_called_an_interruption(monkeypatch):
    def broken(args):
        raise ImportError("no such module")

    monkeypatch.setattr(command_group, "run", broken)
    with pytest.raises(ImportError, match="no such module"):
        main.main(["tools", "check"])
