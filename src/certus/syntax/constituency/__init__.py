"""Phrase-structure grammars: annotation, binarisation, lexicons, exact parsing."""
