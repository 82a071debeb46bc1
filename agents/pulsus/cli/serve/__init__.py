"""Commands of the server: `pulsus serve`, and the users who may sign in."""
