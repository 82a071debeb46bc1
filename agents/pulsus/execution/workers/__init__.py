"""The child process of a run: its program, how it is started, and the pipes to it."""
