"""Every other operator across opsets: what its schema allows, and whether a node means the same at another opset."""
