"""English words brought to one form: stems, irregular forms, number words as figures.

Source: spec: design, Chinese; data README, baselines.
"""

import threading
from functools import lru_cache

import snowballstemmer

_NUMBERS = {
    "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8",
    "nine": "9", "ten": "10", "eleven": "11", "twelve": "12", "twenty": "20", "thirty": "30",
    "forty": "40", "fifty": "50", "hundred": "100", "thousand": "1000",
}  # fmt: skip
# Each first word stands for those after it, which no suffix rule brings back to it.
_IRREGULAR_FORMS = """
become became; begin began begun; break broke broken; bring brought; build built; buy bought;
catch caught; choose chose chosen; come came; draw drew drawn; drink drank drunk;
drive drove driven; eat ate eaten; fall fell fallen; feel felt; fight fought; find found;
fly flew flown; forget forgot forgotten; get got gotten; give gave given; go went gone;
grow grew grown; hear heard; hold held; keep kept; know knew known; leave left; lend lent;
lose lost; make made; mean meant; meet met; pay paid; ride rode ridden; rise rose risen; run ran;
say said; see saw seen; sell sold; send sent; sing sang sung; sit sat; sleep slept;
speak spoke spoken; spend spent; stand stood; steal stole stolen; swim swam swum;
take took taken; teach taught; tell told; think thought; throw threw thrown;
understand understood; wake woke woken; wear wore worn; win won; write wrote written;
child children; foot feet; half halves; knife knives; leaf leaves; life lives; man men;
mouse mice; person people; shelf shelves; tooth teeth; wife wives; woman women
"""
_BASES = {
    form: base
    for base, *forms in (line.split() for line in _IRREGULAR_FORMS.split(";"))
    for form in forms
}

# A stemmer keeps the word it is working on, so two threads can't share it unguarded.
_LOCK = threading.Lock()
_STEMMER = snowballstemmer.stemmer("english")


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return the common form of a lower-case English word.

    >>> stem("deployed"), stem("went"), stem("seven")
    ('deploy', 'go', '7')
    """
    if word in _NUMBERS:
        return _NUMBERS[word]
    with _LOCK:
        stemmed: str = _STEMMER.stemWord(_BASES.get(word, word))
    return stemmed
