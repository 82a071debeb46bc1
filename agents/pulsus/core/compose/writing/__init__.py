"""Prepare and read the prompts, answers and examples of generated modules (spec §7). Pure."""
