"""Commands about the catalogue: `init`, `tools`, `promote`, `audit` and others."""
