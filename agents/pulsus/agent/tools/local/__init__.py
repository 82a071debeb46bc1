"""The parts that the built-in tools share on this machine: files, commands, figures, findings."""
