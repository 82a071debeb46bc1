"""The child process of a run: its program, how it is started, and the pipes to it.

The timeout and the size of output are in `child_pipes.py`.
"""
