"""The supervisor outside a confined tool: it answers its held system calls (ADR 28)."""
