"""Extractors read tool results into facts, one module for each family of tools. Pure.

Each module's docstring states the shape of the results that it reads. Keys that are missing are
left out of the fact; other keys are ignored.
"""
