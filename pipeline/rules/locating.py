"""Finding a quote in the text it was taken from, to the code point."""

import unicodedata


def locate(quote: str, text: str) -> tuple[int, int] | None:
    """Start and end of the first occurrence of `quote` in `text`, or None.

    A quote that differs only in canonical form (composed or decomposed) is found too, as long as
    no combined character is cut by it.

    >>> locate("新模板", "以后都用新模板"), locate("old", "the new one")
    ((4, 7), None)
    >>> locate("cafe\u0301", "the caf\u00e9 is closed")
    (4, 8)
    """
    for form in (quote, unicodedata.normalize("NFC", quote), unicodedata.normalize("NFD", quote)):
        start = text.find(form) if form else -1
        while start >= 0:
            end = start + len(form)
            if not _cuts(text, end) and not unicodedata.combining(text[start]):
                return start, end
            start = text.find(form, start + 1)
    return None


def _cuts(text: str, at: int) -> bool:
    return at < len(text) and unicodedata.combining(text[at]) != 0
