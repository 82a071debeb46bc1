"""Fill the inputs of a tool from the words of a request (spec §6). Pure."""
