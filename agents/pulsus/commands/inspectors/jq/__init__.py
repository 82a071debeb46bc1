"""Decide whether a jq or yq program only reads."""
