"""What lies on disk: files written atomically, tensors, model files."""
