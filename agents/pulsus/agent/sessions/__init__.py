"""Saved transcripts of `pulsus chat`.

`session_file.py` writes and reads them.
"""
