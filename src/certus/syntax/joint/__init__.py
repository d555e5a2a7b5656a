"""Parsing and tagging as one problem, by dual decomposition (Rush et al. 2010)."""
