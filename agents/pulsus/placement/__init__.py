"""Plan which virtual machine runs on which host, in an order that never overloads a host."""
