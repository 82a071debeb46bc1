"""`pulsus place`: plan which virtual machine runs where, and check such a plan."""
