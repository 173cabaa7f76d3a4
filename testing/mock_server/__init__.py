"""A mock OpenAI-compatible server with known faults, to test `gyre accept`; see README.md."""
