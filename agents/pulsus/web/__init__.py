"""`pulsus serve`: the pages and the HTTP API where people see and approve what waits.

The command is `cli/serve/serve_command.py`: it decides on port, address and TLS, and refuses a
host that is not loopback without TLS. Limits and times of a server are in `server_setup.py`.
"""
