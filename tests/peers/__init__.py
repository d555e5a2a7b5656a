"""The test suites of other packages, run against Certus: ``make peers``."""
