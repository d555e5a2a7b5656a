"""Whatever sets weights: feature templates and learners."""
