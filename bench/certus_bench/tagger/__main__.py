"""Performs one job: ``python -m certus_bench.tagger DATA JOB``, which ``job.run`` calls."""

import sys

from certus_bench.tagger.job import main

main(sys.argv[1:])
