"""Tokens of the agent's system prompt and answer schema. Nothing here asserts a size or a time.

Tokens are characters divided by four, as the budget of a model counts them.
"""

import json
import statistics
import time
from pathlib import Path

import pytest

from pulsus.agent.agent_session import CATALOGUE_TOOLS, WITH_LIKELY
from pulsus.agent.model.answer_schema import answer_schema
from pulsus.agent.model.proposal import call_hint
from pulsus.agent.tool_selection import select_tools
from pulsus.bootstrap import build
from pulsus.bootstrap.build_agent_session import make_agent_session
from pulsus.gates.built_in_tools import built_in_tools
from pulsus.llm.token_estimate import estimate_tokens
from tests.benchmarks.agent_plain_loop import plain_prompt
from tests.project import pulsus

pytestmark = pytest.mark.bench

ROOT = Path(__file__).parents[2]
REQUESTS = 60


def figures(parts, tools, context):
    """Return the tokens of a prompt and a schema, and of a prompt with JSON Schemas instead."""
    prompt = parts.make_model().system_prompt(tools, context)
    return {
        "tools": len(tools),
        "prompt": round(len(prompt) / 4),
        "prompt_with_schemas": round(len(plain_prompt(tools, context)) / 4),
        "schema": estimate_tokens((), answer_schema(tools, text_only=False)),
    }


def test_bench_prompts_of_golden_requests(tmp_path, capsys):
    pulsus(tmp_path, "init", str(tmp_path / "project"))
    settings = {"model": {"base_url": "http://127.0.0.1:9/v1", "name": "local"}}
    parts = make_agent_session(build(tmp_path / "project", settings), None).parts
    lines = (ROOT / "config/golden.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    rows = rows[:: len(rows) // REQUESTS][:REQUESTS]
    found, seconds, right, sure = [], [], [], 0
    for row in rows:
        began = time.monotonic()
        likely = parts.suggest(row["query"])
        selection = select_tools(
            parts.tools.table,
            row["query"],
            parts.rank(row["query"]),
            most=CATALOGUE_TOOLS if likely is None else WITH_LIKELY,
            suggests=True,
            verifying=parts.verifying,
            likely="" if likely is None else likely.tool,
            is_folder=parts.is_folder,
        )
        seconds.append(time.monotonic() - began)
        sure += likely is not None
        found.append(figures(parts, selection.at_start(), call_hint(likely)))
        if wanted := row.get("tools"):
            tools = [getattr(parts.tools.by_name[name], "tool", None) for name in selection.listed]
            right.append(any(one is not None and one.id in wanted for one in tools))
    built_in = tuple(built_in_tools().values())
    medians = {key: round(statistics.median(one[key] for one in found)) for key in found[0]}
    with capsys.disabled():
        print(json.dumps({"all": figures(parts, tuple(parts.tools.table), "")}))
        print(json.dumps({"built_in": figures(parts, built_in, "")}))
        print(json.dumps({"requests": len(rows), "median": medians, "router_sure": sure}))
        print(json.dumps({"most": max(one["prompt"] for one in found)}))
        print(json.dumps({"with_a_tool": len(right), "right_tool_listed": sum(right)}))
        print(json.dumps({"choice_ms": round(statistics.median(seconds) * 1000)}))
