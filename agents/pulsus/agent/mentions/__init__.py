"""Names in a request → discovered resources and a summary of them (assistant deep dive §1).

Completions of `@name` on the page are made in `web/mention_names.py`.
"""
