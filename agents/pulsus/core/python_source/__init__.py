"""Read Python source without importing it."""
