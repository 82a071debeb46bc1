"""Tells people elsewhere that a card waits: by a webhook, a command or mail (contracts)."""
