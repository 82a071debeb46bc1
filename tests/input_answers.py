"""Answers of a canned model to the questions about inputs, made from the schema that is asked."""

import json

from tests.model_server import says


def points(**inputs):
    """Answer both questions alike: each input gets these words of the request, others nothing."""

    def answer(handler):
        body = handler.played.asked[-1]["body"]
        asked = body["response_format"]["json_schema"]["schema"]["properties"]
        if is_about_values(body):
            given = {words: name for name, words in inputs.items()}
            says(json.dumps({text: given.get(text, "none") for text in asked}))(handler)
        else:
            says(json.dumps({name: inputs.get(name) for name in asked}))(handler)

    return answer


def is_about_values(body):
    """True for the question which input each value is for."""
    return "inputs for the values" in body["messages"][-1]["content"].splitlines()[-1]
