"""A document played live: the scenario itself runs, sentence by sentence, while somebody watches.

The feature file is the only text of a document. pytest performs it in a process of its own (`performing`) and tells
every sentence to the watcher (`audience`), who shows it (`showing`) and says when to go on.
"""
