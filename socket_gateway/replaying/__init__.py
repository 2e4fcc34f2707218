"""Replay: a log of events, or a chat corpus, sent through the socket like any client would."""
