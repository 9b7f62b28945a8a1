"""What is known of stacks, hardware and failures: data files in ``constraints/``, read and checked here."""
