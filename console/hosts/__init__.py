"""Which hosts there are, and the one way to act on them."""
