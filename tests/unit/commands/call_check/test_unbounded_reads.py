"""A program that waits for typed input ends if the shell gives it an empty input, and only then."""

import pytest

from pulsus.commands import classify

ASKS = "openssl s_client -connect h:443"


@pytest.mark.parametrize(
    ("command", "reads"),
    [
        (f"{ASKS} </dev/null", True),
        (f"{ASKS} 2>/dev/null </dev/null | openssl x509 -noout -dates", True),
        (f"timeout 5 {ASKS} < /dev/null", True),
        (f"({ASKS}) </dev/null", True),
        (f"cat notes.txt | {ASKS} </dev/null", True),
        (f"ls; {ASKS} </dev/null", True),
        (f"echo | {ASKS} | head", True),
        (f"true | {ASKS}", True),
        (ASKS, False),
        (f"timeout 5 {ASKS}", False),
        (f"{ASKS} < notes.txt", False),
        (f"{ASKS} </dev/null < notes.txt", False),
        (f"ls </dev/null; {ASKS}", False),
        (f"ls </dev/null && {ASKS}", False),
        (f"{ASKS} | cat </dev/null", False),
        (f"{{ {ASKS}; ls; }} </dev/null", False),
        (f"echo secret | {ASKS}", False),
        (f"echo; {ASKS}", False),
        (f"cat notes.txt | {{ echo; {ASKS}; }}", False),
        (f"echo | {{ cat notes.txt; {ASKS}; }}", False),
        (f"ssh h {ASKS} </dev/null", False),
        (f"ssh h '{ASKS} </dev/null'", True),
    ],
)
def test_it_reads_only_from_nothing(command, reads):
    verdict = classify(command)
    assert verdict.allow is reads, verdict.reason
    assert reads or verdict.category == "interactive_repl"
