"""The specification's own ranking, to the letter of §4 and §5 (`ranker.engine = "spec"`)."""
