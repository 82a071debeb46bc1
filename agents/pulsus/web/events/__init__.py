"""Events for every open page, and the streams that bring them."""
