"""What is known of runtimes, and what ``--for`` makes of it."""
