"""3xx: quantize and dequantize nodes in places where they do not do what is meant."""
