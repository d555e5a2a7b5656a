"""Reading and writing files: corpora and models."""
