"""The API side of the scheduler: watches feed the cache, actions are executed. It makes no decisions."""
