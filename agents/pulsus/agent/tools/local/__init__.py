"""The parts that the built-in tools share on this machine: files, commands, figures, findings.

Output is cut in `tool_report.py`, files are read in `readable_files.py` and replaced in
`file_replacement.py`.
"""
