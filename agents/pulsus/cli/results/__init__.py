"""The JSON result of a tool as text for people, chosen by the shape of the value."""
