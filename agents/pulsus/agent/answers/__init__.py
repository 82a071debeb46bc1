"""Checks of a model's text: leaked markup, invented results, repetition, length.

`agent/loop/agent_loop.py` decides what is done with a finding: the answer is withdrawn, sent back
or gets a note.
"""
