"""Decide whether an awk program only reads, and ends."""
