"""The stages: filter before the ledger, then observe, merge, index, publish. None knows another."""
