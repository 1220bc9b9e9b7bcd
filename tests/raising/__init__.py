"""Raising: what a conversion says in fewer words on request."""
