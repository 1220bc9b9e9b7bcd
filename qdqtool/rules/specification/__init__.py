"""1xx: what the specification of the model's own opset gives no meaning, or asks for."""
