"""Sentences, trees, targets and tokens in memory."""
