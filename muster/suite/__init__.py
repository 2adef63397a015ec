"""The behaviours of features/: reading, lint, vocabulary, and which of them a run selects."""
