"""What is at stake in a command: risk level, secrets, devices."""
