"""Plans as files that a team reviews: the plan, its inputs and what it will do."""
