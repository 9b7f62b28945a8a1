"""From a resolution to ordered steps with exact files."""
