"""Rows in, records out. Functions that write expect to run inside a transaction of the writer."""
