"""Wrong writes at one step of a scenario: what a faulty component would write then, and a correct one never writes.

A fault that is there from the beginning fails the first Then about it. For the later ones, and for those that other
Thens imply, the fault has to begin at that step: it is written beside the components, through the API.
"""
