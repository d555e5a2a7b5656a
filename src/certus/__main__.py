"""``python -m certus``: the command line."""

from certus_starter import main

main()
