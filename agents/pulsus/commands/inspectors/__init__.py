"""Inspectors of what stands inside words, each registered by its kind in `content_inspector.py`."""
