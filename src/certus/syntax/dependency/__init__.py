"""Dependency trees over scores: the problem, what it returns, how scores lie."""
