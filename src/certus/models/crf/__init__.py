"""A CRF with the interface of sklearn-crfsuite's estimator."""

from certus.models.crf.estimator import CRF

__all__ = ["CRF"]
