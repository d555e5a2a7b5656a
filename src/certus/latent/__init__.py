"""Chains with hidden refinements of their labels."""
