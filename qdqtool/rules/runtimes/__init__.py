"""4xx: what a named runtime rejects, computes otherwise, or runs slowly."""
