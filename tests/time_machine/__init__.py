"""Real wheels of ONNX Runtime in throwaway environments: what each can run, and whether ``--for ort@V`` models run there."""
