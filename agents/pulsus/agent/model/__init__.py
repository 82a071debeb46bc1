"""Asking a language model for tool calls and answers, and reading its text."""
