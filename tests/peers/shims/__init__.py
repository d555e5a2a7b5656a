"""One module per peer: a pytest plugin that puts Certus where the peer's own code was."""
