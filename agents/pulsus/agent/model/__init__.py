"""Asking a language model for tool calls and answers, and reading its text.

The HTTP of a model, its retries and its API key are in `llm/`; the token budget is
`llm/budgeted_model.py`.
"""
