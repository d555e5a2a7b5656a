"""Fuzzing, guided by coverage: ``make fuzz MINUTES=10`` tries the readers, the loaders, the commands."""
