"""First-order CRFs over items: the model and the algorithms that train it."""
