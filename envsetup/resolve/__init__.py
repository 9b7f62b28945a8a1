"""Choose the stack and the Python that fit a machine, and explain the choice and every refusal."""
