"""A saved plan, and the difference of two, as text, JSON, Markdown, Mermaid and SVG."""
