"""Lists of words that requests use for words of contracts, and sets of words."""
