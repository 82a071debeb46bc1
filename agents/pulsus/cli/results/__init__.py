"""Print the result of a tool that ran, as text for people; decisions and plans: `cli/render/`."""
