"""Measurements, one command each: ``python -m tests.benchmarks.kernels``, ``.streaming``, ``.tools``; ``--json FILE`` keeps the numbers."""
