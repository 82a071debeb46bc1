"""Modules as a model might write them, and how they lie in its answers."""

from pulsus.config.settings import GeneratorConfig
from pulsus.core.compose.guardrails.all_rules import GuardrailRules

RULES = GuardrailRules(frozenset(GeneratorConfig().allowed_imports))

SECTIONS = {
    "Args": "    text (str): What to count.",
    "Returns": "    vowels (int): How many vowels it has.",
    "Side effects": "    none",
    "Kind": "read",
    "Effects": "    paths: none\n    hosts: none\n    commands: none",
    "Secrets": "none",
    "Examples": "    - inputs: {text: echo}",
}
COUNTS = '    return {"vowels": sum(c in "aeiou" for c in text)}'
WRONG = '    return {"vowels": len(text)}'
GIVEN = ("--example", '{"text": "echo"} -> {"vowels": 2}')
OTHER = ("--example", '{"text": "rhythm"} -> {"vowels": 0}')
REQUEST = "count the vowels of a sentence"


def module(body="    pass", head="", without="", counts=COUNTS):
    """A module with everything it owes; `without` leaves a section out."""
    inline = ("Kind", "Secrets")
    sections = (
        f"{name}: {text}" if name in inline else f"{name}:\n{text}"
        for name, text in SECTIONS.items()
        if name != without
    )
    text = "\n\n".join(("Count the vowels of a text.", *sections))
    imports = "\n".join(line for line in (head, "from typing import Any") if line)
    run = f"def run(text: str) -> dict[str, Any]:\n{body}\n{counts}\n"
    run = run.replace("    pass\n", "")
    return f'"""{text}\n"""\n\nfrom __future__ import annotations\n\n{imports}\n\n\n{run}'


MODULE = module()


def fenced(code):
    """The module as models answer."""
    return f"Here it is:\n\n```python\n{code}```\n\nIt counts."
