"""The model file and its graph: load, tensors, stage, publish, view."""
