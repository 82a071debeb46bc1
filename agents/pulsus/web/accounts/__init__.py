"""The people who may sign in, their roles, sessions and tokens."""
