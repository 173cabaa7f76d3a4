"""A mock OpenAI-compatible server with known faults, for the tests of `gyre accept`; see README.md."""
