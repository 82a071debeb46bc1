"""Facts that a session has read from tool results, and when they answer a repeated read.

The knowledge base that `pulsus kb` asks is `kb/`, with an age limit for its facts (`kb/facts.py`).
"""
