"""Questions to the agent, and what a model answers: each one proposes a change of a file."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass

from tests.model_server import says


def call(tool, /, **parameters):
    """Return what a model writes to call a tool."""
    return json.dumps({"tool_call": {"name": tool, "parameters": parameters}})


def final(summary):
    """Return what a model writes at the end of a run."""
    return json.dumps({"final_answer": {"summary": summary, "confidence": "high"}})


@dataclass(frozen=True)
class Scene:
    """A question, and the texts that the model answers to it, one a turn."""

    question: str
    answers: tuple[str, ...]


def edit_scene(path, text, summary="It is done.", denied="It was left as it is."):
    """Return the scene in which the model wants to write `text` to a file."""
    change = call(
        "pulsus_file_edit", action="write", path=str(path), content=text, target_host="localhost"
    )
    read = call("pulsus_read", action="file", path=str(path), target_host="localhost")
    return Scene(f"change {path} to {text.strip()}", (change, read, final(summary), final(denied)))


def answers_of(*scenes):
    """Return a model that knows which question it is asked, so that runs may go side by side."""
    return answers_in(scenes)


def answers_in(scenes):
    """Return the same model; a test may add scenes to the list while the model plays."""
    turns: dict[str, int] = {}
    lock = threading.Lock()

    def answer(handler):
        body = handler.played.asked[-1]["body"]
        said = "\n".join(str(message["content"]) for message in body["messages"])
        for scene in scenes:
            if scene.question in said:
                with lock:
                    turn = turns.get(scene.question, 0)
                    turns[scene.question] = turn + 1
                says(scene.answers[min(turn, len(scene.answers) - 1)])(handler)
                return
        says(final("This is no question of the test."))(handler)

    return answer
