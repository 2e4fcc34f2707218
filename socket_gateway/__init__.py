"""The doors: the socket, its client, the command line. All of them speak one protocol."""
