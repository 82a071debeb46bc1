"""A command line as literal words.

`script_parser.py` parses, `words.py` takes quotes away, `unsupported_syntax.py` refuses `$(…)`,
variables and `while`, and `command_limits.py` has the limits on length and depth.
"""
