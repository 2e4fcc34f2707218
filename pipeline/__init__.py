"""The verbs: what is done with events until they are memory, and how memory is found again."""
