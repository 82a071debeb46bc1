"""The files, the program and the address of Pulsus, which its agent may never touch."""
