"""Put a working GPU deep-learning environment on a machine, prove it, explain what is wrong."""

__version__ = "0.1.0"
