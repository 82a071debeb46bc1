"""Extension points and their loading.

`find_plugins.py` finds plugins, `load_plugins.py` loads them, `contributions.py` checks what they
add, and `plugin_failures.py` decides what happens when one fails. `cli/setup/plugins_command.py`
lists them.
"""
