"""Performs one job: ``python -m certus_bench.tagger DATA JOB``, which ``job.run_job`` calls."""

import sys

from certus_bench.tagger.job import print_job

print_job(sys.argv[1:])
