"""The optimisers of decompositions, compared on problems of several kinds: ``certus bench relax``."""
