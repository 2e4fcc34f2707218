"""How standing records are found for new ones: forms they are kept under, and what is looked for."""

from dataclasses import dataclass

from storage.records.knowledge import Scope


@dataclass(frozen=True, slots=True)
class Forms:
    """What of a record's words makes it the same statement as another, or its opposite.

    `normal` is shared by repeats, `skeleton` by opposites; an empty one is shared by nobody.
    """

    normal: str
    skeleton: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """What new records of an owner could repeat, replace or contradict.

    `slots` are keys with the scopes that they are filled for. `alike` is how many of the newest
    live statements of each skeleton are wanted, `statements` how many of a subject's newest.
    """

    subjects: tuple[str, ...]
    ids: tuple[str, ...] = ()
    normals: tuple[str, ...] = ()
    slots: tuple[tuple[str, Scope], ...] = ()
    skeletons: tuple[str, ...] = ()
    alike: int = 0
    statements: int = 0
