import ast

import pytest

from pulsus.core.compose.writing.module_from_answer import add_missing_imports

ALLOWED = ("csv", "json", "math", "re")


def mended(text):
    return add_missing_imports(text.encode(), ALLOWED).decode()


def test_a_missing_import_is_added_before_the_first_statement():
    written = (
        '"""Doc."""\n\nfrom __future__ import annotations\n\nfrom typing import Any\n\n\n'
        "def run(text: str) -> Any:\n    return json.loads(text) or re.escape(text)\n"
    )
    assert mended(written) == written.replace("from typing", "import json\nimport re\nfrom typing")


def test_only_allowed_modules_are_imported():
    written = "def run():\n    return os.getcwd(), subprocess.run, math.pi\n"
    assert mended(written) == f"import math\n{written}"


@pytest.mark.parametrize(
    "binding",
    [
        "import json",
        "from x import json",
        "import y as json",
        "import json.decoder",
        "json = 1",
        "def json(): ...",
        "class json: ...",
        "def f(json): ...",
        "for json in (): ...",
        "(json := 2)",
        "with open('x') as json: ...",
        "try: ...\nexcept OSError as json: ...",
        "match 1:\n    case json: ...",
        "match {}:\n    case {**json}: ...",
    ],
)
def test_a_bound_name_gets_no_import(binding):
    written = f"{binding}\ndef run(text):\n    return json.loads(text)\n"
    assert mended(written) == written


@pytest.mark.parametrize("written", ["def run(:\n", "", "\0", '"""Doc only."""\n'])
def test_source_without_missing_imports_or_invalid_source_stays_unchanged(written):
    assert mended(written) == written


def test_a_missing_import_is_added_above_a_decorator():
    written = '"""Doc."""\n@cached\ndef run():\n    return math.pi\n'
    assert mended(written) == '"""Doc."""\nimport math\n@cached\ndef run():\n    return math.pi\n'
    ast.parse(mended(written))


def test_a_missing_import_is_added_to_a_module_of_one_expression():
    assert mended("json.dumps(1)\n") == "import json\njson.dumps(1)\n"
