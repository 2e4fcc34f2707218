"""Making what is derived anew: records from the journal, index entries, snapshots."""
