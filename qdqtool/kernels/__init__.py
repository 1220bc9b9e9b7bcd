"""Arrays and canonical meaning in, arrays out; no graphs, no names."""
