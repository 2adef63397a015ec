"""The sentences of the features: each step is one line of translation into muster/."""
