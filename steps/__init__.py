"""Step definitions: each translates one step into one call of muster/."""
