"""Performs one job: ``python -m certus.bench.tagger DATA JOB``, which ``job.run`` calls."""

import sys

from certus.bench.tagger.job import main

main(sys.argv[1:])
