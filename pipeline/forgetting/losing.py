"""What events lose that stay, in them and in their repeats; and which words then are to be nowhere."""

from collections.abc import Collection, Iterable, Sequence

from pipeline.rules.forgetting import Place
from pipeline.rules.locating import locate
from pipeline.text.needles import Finder, pieces
from storage.records.knowledge import Record
from storage.repositories import events, forgettable


def lost_places(
    versions: Sequence[Record], going: Collection[int]
) -> tuple[dict[int, list[Place]], set[int]]:
    """What records have quoted from events that stay, there and in events counted with them.

    Args:
        versions: Every version of the records.
        going: Events that go anyhow.

    Returns:
        The places by event; and the repeats that don't say it in these words, which go whole.
    """
    places: dict[int, list[Place]] = {}
    whole: set[int] = set()
    for version in versions:
        for span in version.evidence:
            if span.seq in going:
                continue
            places.setdefault(span.seq, []).append((span.start, span.end))
            roots = [span.seq, *forgettable.counted_into([span.seq])]
            alike = {*roots, *forgettable.repeats_of(roots)} - {span.seq, *going}
            for event in events.by_seqs(version.owner_scope, alike):
                at = locate(span.quote, event.text)
                if at is None:
                    whole.add(event.seq)
                else:
                    places.setdefault(event.seq, []).append(at)
    return {seq: found for seq, found in places.items() if seq not in whole}, whole


def apart_from(texts: Iterable[str], kept: Iterable[str]) -> frozenset[str]:
    """Texts that go, without the pieces that stand in what is known to stay."""
    stays = "\0".join(kept).encode("utf-8", "surrogatepass")
    cut = {text: pieces(text) for text in texts if text}
    wanted = sorted({piece for found in cut.values() for piece in found})
    held = {wanted[which] for which in Finder(wanted).found(stays)} if stays else set()
    whole = (text for text, found in cut.items() if held.isdisjoint(found))
    rest = (
        piece.decode("utf-8", "surrogatepass")
        for found in cut.values()
        if not held.isdisjoint(found)
        for piece in found
        if piece not in held
    )
    return frozenset((*whole, *rest))
