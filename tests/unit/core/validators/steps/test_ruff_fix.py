from pulsus.core.validators.steps.ruff import remove_unused_imports


def mended(text):
    return remove_unused_imports(text.encode(), seconds=20).decode()


def test_an_unused_import_is_taken_out_wherever_it_stands():
    written = (
        "import json\nfrom collections import Counter, defaultdict\n\n\n"
        "def run(words):\n    from pathlib import Path\n    return dict(Counter(words))\n"
    )
    assert mended(written) == (
        "from collections import Counter\n\n\ndef run(words):\n    return dict(Counter(words))\n"
    )


def test_nothing_else_is_changed():
    written = "import os,sys\nx=1\n\ndef run( a ):\n    y = 2\n    return os.getcwd(), sys.argv\n"
    assert mended(written) == written


def test_text_that_is_not_python_stays_as_it_is():
    assert mended("import os\ndef run(:\n") == "import os\ndef run(:\n"
    assert remove_unused_imports(b"\xff\x00", seconds=20) == b"\xff\x00"


def test_without_ruff_the_module_stays_as_it_is(monkeypatch):
    monkeypatch.setattr("pulsus.core.validators.steps.ruff.find_ruff", lambda module: None)
    assert mended("import os\n") == "import os\n"
