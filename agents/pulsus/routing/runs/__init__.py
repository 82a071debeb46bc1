"""Promoted tools are checked and run, each in a child process."""
