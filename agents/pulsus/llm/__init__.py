"""Reaching a language model over plain HTTP (spec §7).

Endpoints, timeouts and retries are in `http/`, budget and secrets of a question in
`budgeted_model.py`, the API key in `connect.py`. Prompts are written elsewhere:
`core/compose/writing/prompt_messages.py`, `agent/model/`.
"""
