"""Tests the restoring of streamed answers."""
