"""The pages for people: sign in, and the live list of what waits for approval."""
