"""*index*: the terms of a package's records, as rows that followers make their index from."""

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.rules import indexing
from pipeline.stages.contract import Applied, each
from pipeline.text.tokenise import Tokenizer
from storage.records.recall import IndexEntry
from storage.records.runs import Package, Stage
from storage.repositories import index, ledger, records


class Index:
    """Makes the index entries of what *merge* has written for a package."""

    stage = Stage.INDEX

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def compute(self, claimed: Sequence[Package]) -> Mapping[int, Any]:
        """Cut the texts of changed records into terms."""
        return each(claimed, self._entries)

    def _entries(self, package: Package) -> list[IndexEntry]:
        changed = ledger.touched_records(package.id)
        found = records.by_ids(package.owner, changed)
        return [indexing.record_entry(record, self._tokenizer) for record in found]

    def apply(self, package: Package, computed: list[IndexEntry], now: int) -> Applied:  # noqa: ARG002 - the contract's
        """Write the entries."""
        index.append(computed, tokenizer=self._tokenizer.version)
        return Applied()
