"""The processes of Pulsus, and calls that end, enter or type at one of them."""
