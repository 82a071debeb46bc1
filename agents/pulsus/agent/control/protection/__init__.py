"""The files, the program and the address of Pulsus, which its agent may never touch.

`self_protection.py` decides; it asks the modules here for files, processes and addresses.
"""
