"""Inspectors of what stands inside words, each registered by its kind in
`commands/content_inspector.py`.

A text in SQL, awk, sed, jq, redis, mongo and others is refused here if it writes, shows secrets, or
does not end.
"""
