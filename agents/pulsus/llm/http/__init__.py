"""Ask a language model's server over HTTP: exchange, retries, dialects."""
