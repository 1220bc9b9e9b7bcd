"""Random graphs of quantize and dequantize nodes, data movement and constants, drawn by hypothesis; ONNX Runtime runs all of them."""
