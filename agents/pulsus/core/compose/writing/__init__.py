"""Prompts, answers and examples of generated modules (spec §7). Pure."""
