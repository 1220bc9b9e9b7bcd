"""2xx: scales, zero points and codes whose values make no sense or waste precision."""
