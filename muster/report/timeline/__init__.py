"""Timeline of a scenario: built from its history, drawn as SVG and as text."""
