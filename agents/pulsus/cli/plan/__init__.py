"""Subcommands for plans: plan, show, diff, apply, runs."""
