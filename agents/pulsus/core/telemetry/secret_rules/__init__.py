"""Rules of the redactor: what in a text is a secret."""
