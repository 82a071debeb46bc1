"""The machines, services and containers that exist, and how they are found (part 9).

Only this machine is looked at; no inventory file is read. Commands on other hosts are shell
commands, which `commands/` judges and `execution/run_gated_command.py` runs.
"""
