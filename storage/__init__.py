"""The nouns: what is kept, and how it is kept. Nothing here knows a stage or a socket."""
