"""What all benchmarks share: options, timing, claims, tables, pictures, JSON and the command itself."""
