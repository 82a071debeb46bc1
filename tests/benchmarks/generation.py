"""Measure how often the configured model writes a tool that the gate accepts, and rightly so.

    PULSUS_MODEL__BASE_URL=… python tests/benchmarks/generation.py --limit 30 --out results.jsonl

It runs `pulsus generate` over generation_requests.jsonl, with the checks under `given` as examples.
One JSON line a request goes to the file, and what is there already is not asked again, so a slow
run may be continued. Then, beside the pipeline and by means of its own:

- every accepted module is run on the checks given (one that fails is a silent failure) and on the
  one held back (which shows what fitted the examples only);
- every accepted module is held to the gate and the guardrails once more, and every refused one is
  run too, to see what was right and refused all the same.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pulsus.config.settings import GeneratorConfig, SandboxConfig
from pulsus.core.compose.guardrails import all_rules
from pulsus.core.compose.guardrails.all_rules import GuardrailRules
from pulsus.core.contract.tool_parser import read_tool
from pulsus.core.sandbox.job import Job
from pulsus.core.sandbox.sandbox_limits import SandboxLimits
from pulsus.core.sandbox.sandbox_probe import run_sandboxed
from pulsus.core.types import BrokenTool, InlineFile

HERE = Path(__file__).parent
REQUESTS = HERE / "generation_requests.jsonl"
LIMITS = SandboxLimits.of(SandboxConfig(max_seconds=10.0), import_seconds=5.0)


def pulsus(folder, *args, timeout=3600):
    """Exit status and the JSON document of a command."""
    done = subprocess.run(
        [sys.executable, "-m", "pulsus", *args, "--output", "json", "--non-interactive"],
        cwd=folder,
        capture_output=True,
        timeout=timeout,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    try:
        return done.returncode, json.loads(done.stdout)
    except ValueError:
        sys.exit(f"pulsus {args[0]} gave no JSON: {done.stderr.decode()}")


def equal(expected, found):
    """Equality of JSON values, floats within 1e-9; nothing of the product's own comparison."""
    if isinstance(expected, dict) and isinstance(found, dict):
        same = expected.keys() == found.keys()
        return same and all(equal(v, found[k]) for k, v in expected.items())
    if isinstance(expected, list) and isinstance(found, list):
        return len(expected) == len(found) and all(map(equal, expected, found))
    if isinstance(expected, bool) or isinstance(found, bool):
        return expected is found
    if isinstance(expected, int | float) and isinstance(found, int | float):
        return math.isclose(expected, found, rel_tol=1e-9)
    return expected == found


def passes(source, tool, checks):
    """Count the checks that the module passes, each in a sandbox of its own."""
    good = 0
    for check in checks:
        files = tuple(InlineFile(p, t.encode()) for p, t in check.get("files", {}).items())
        job = Job(source, "candidate", tool.entry, inputs=check["inputs"], files=files)
        done = run_sandboxed(job, LIMITS)
        good += done.status == "ok" and equal(check["output"], done.value)
    return good


def defined(source):
    """The tool that these bytes are."""
    return read_tool(
        source,
        path=Path("/w/candidate.py"),
        tool_id="demo/check/candidate",
        domain="demo",
        action="check",
        name="candidate",
        max_bytes=200_000,
    )


def looked_at(row, module, accepted, folder):
    """Return the findings of an independent look at the module."""
    source = module.read_bytes()
    tool = defined(source)
    if isinstance(tool, BrokenTool):
        return {"broken": tool.code, "given_ok": 0, "held_ok": 0}
    settings = GeneratorConfig()
    found = {
        "given_ok": passes(source, tool, row["given"]),
        "held_ok": passes(source, tool, row["held"]),
        "guardrails": list(
            all_rules.list_reasons(
                source, tool, GuardrailRules(frozenset(settings.allowed_imports))
            )
        ),
        "examples_kept": [dict(e.inputs) for e in tool.examples]
        == [c["inputs"] for c in row["given"]]
        and [e.expected for e in tool.examples] == [c["output"] for c in row["given"]],
    }
    if accepted:
        code, _ = pulsus(folder, "validate", str(module))
        found["gate_again"] = code == 0
    return found


def asked(row, folder):
    """One request, run as a user would."""
    examples = [text for check in row["given"] for text in ("--example", json.dumps(check))]
    began = time.monotonic()
    where = ("--domain", "bench", "--action", "made", "--name", row["name"])
    args = ("generate", row["request"], *examples, *where, "--dry-run", "--regenerate")
    code, document = pulsus(folder, *args)
    made = document.get("generation") or {}
    result = {
        "name": row["name"],
        "exit": code,
        "seconds": round(time.monotonic() - began, 1),
        "accepted": bool(made.get("accepted")) and code == 0,
        "repairs": made.get("repairs"),
        "rounds": [[r["step"], r["reasons"], r["tokens"]] for r in made.get("rounds", [])],
        "stopped": made.get("stopped"),
        "proof": (document.get("validation") or {}).get("proof"),
        "checks": [len(row["given"]), len(row["held"])],
    }
    module = document.get("module")
    if module:
        result["module"] = (folder / module).read_text(encoding="utf-8")
        result["looked_at"] = looked_at(row, folder / module, result["accepted"], folder)
    return result


def report(results):
    """Return the figures, as lines of Markdown."""
    done = len(results)
    accepted = [r for r in results if r["accepted"]]
    yield f"| requests asked | {done} of 30 |"
    for rounds in (0, 1, 2):
        passed = sum(r["repairs"] <= rounds for r in accepted)
        yield f"| accepted with {rounds} repair rounds | {passed} ({passed / max(done, 1):.0%}) |"
    silent = [r["name"] for r in accepted if r["looked_at"]["given_ok"] < r["checks"][0]]
    held = [r["name"] for r in accepted if r["looked_at"]["held_ok"] < r["checks"][1]]
    looks = [(r, r["looked_at"]) for r in accepted]
    against = [
        r["name"]
        for r, seen in looks
        if seen["guardrails"] or not seen["gate_again"] or not seen["examples_kept"]
    ]
    right = [
        r["name"]
        for r in results
        if not r["accepted"]
        and (seen := r.get("looked_at"))
        and (seen["given_ok"], seen["held_ok"]) == tuple(r["checks"])
    ]
    yield f"| accepted and failing a check given | {len(silent)} {silent or ''} |"
    yield f"| accepted against the gate or a guardrail | {len(against)} {against or ''} |"
    yield f"| accepted and failing the check held back | {len(held)} {held or ''} |"
    yield f"| refused although it passes every check | {len(right)} {right or ''} |"
    steps: dict[str, int] = {}
    for result in results:
        for step, _, _ in result["rounds"]:
            steps[step or "accepted"] = steps.get(step or "accepted", 0) + 1
    yield f"| answers by where they ended | {', '.join(f'{k} {v}' for k, v in steps.items())} |"
    tokens = sum(t for r in results for _, _, t in r["rounds"])
    seconds = sum(r["seconds"] for r in results)
    yield f"| tokens, seconds | {tokens}, {seconds:.0f} |"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=36_000)
    parser.add_argument("--out", type=Path, default=Path("generation-results.jsonl"))
    options = parser.parse_args()
    if not os.environ.get("PULSUS_MODEL__BASE_URL"):
        sys.exit("set PULSUS_MODEL__BASE_URL and PULSUS_MODEL__NAME")
    rows = [json.loads(line) for line in REQUESTS.read_text("utf-8").splitlines()]
    known = options.out.read_text("utf-8").splitlines() if options.out.exists() else []
    results = [json.loads(line) for line in known]
    end = time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        pulsus(project, "init", ".")
        for row in rows[: options.limit]:
            if any(r["name"] == row["name"] for r in results) or time.monotonic() > end:
                continue
            results.append(asked(row, project))
            with options.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(results[-1]) + "\n")
            ended = results[-1]["rounds"][-1:] or "no answer"
            print(row["name"], results[-1]["accepted"], results[-1]["seconds"], ended, flush=True)
    print("\n".join(report(results)))


if __name__ == "__main__":
    main()
