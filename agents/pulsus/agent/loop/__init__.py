"""One agent run: turns of checking, running and absorbing what a model proposes."""
