"""Whose word counts for what: from the roles of the evidence, never from text (mission A4, B5)."""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from types import MappingProxyType

from storage.records.events import Role
from storage.records.knowledge import Authority, FactClass, Proposal, RecordKind

AUTHORITY = MappingProxyType(
    {
        Role.USER: Authority.USER,
        Role.VERIFICATION: Authority.VERIFICATION,
        Role.OBSERVATION: Authority.OBSERVATION,
        Role.EXECUTOR: Authority.OBSERVATION,
        Role.RUNTIME: Authority.OBSERVATION,
        Role.SCHEDULE: Authority.OBSERVATION,
        Role.SUPERVISOR: Authority.INFERENCE,
        Role.EXTERNAL: Authority.EXTERNAL,
    }
)
"""What each role's word weighs (spec: protocol, Who wins)."""

BINDING_KINDS = frozenset(
    {RecordKind.RULE, RecordKind.PREFERENCE, RecordKind.CORRECTION, RecordKind.PROCEDURE}
)
"""Kinds that only the user's own words can bring about."""

RETELLING = frozenset({RecordKind.EPISODE, RecordKind.CUE})
"""Kinds that tell what several people said or did."""


def authority_of(kind: RecordKind, roles: Iterable[Role]) -> Authority:
    """The authority of a record that rests on evidence of these roles (at least one).

    An episode tells several people's parts, so its weakest source counts; so it does wherever
    external text is among the evidence. A statement weighs what its strongest source weighs.

    >>> authority_of(RecordKind.FACT, [Role.USER, Role.EXECUTOR]).name
    'USER'
    >>> authority_of(RecordKind.EPISODE, [Role.USER, Role.EXECUTOR]).name
    'OBSERVATION'
    """
    weights = [AUTHORITY[role] for role in roles]
    weakest = min(weights)
    if kind in RETELLING or weakest is Authority.EXTERNAL:
        return weakest
    return max(weights)


def needs_user(proposal: Proposal) -> bool:
    """Whether a proposal can only rest on what the user said (mission F3)."""
    stable = proposal.fact_class in {FactClass.PROFILE, FactClass.PROJECT}
    return proposal.kind in BINDING_KINDS or (proposal.kind is RecordKind.FACT and stable)


def distrust(proposal: Proposal, roles: AbstractSet[Role]) -> str | None:
    """Why evidence of these roles can't back a proposal, or None when it can.

    Source: mission B5 and F3; protocol, Proposals.

    >>> distrust(Proposal(RecordKind.RULE, "x", ()), {Role.USER, Role.EXTERNAL})
    "external text can't stand beside the user's words here"
    """
    if needs_user(proposal):
        return _distrust_users(proposal, roles)
    if Role.EXTERNAL in roles:
        backed = proposal.kind in {RecordKind.EPISODE, RecordKind.FACT}
        return None if backed else "external text backs an episode or an unconfirmed observation"
    if proposal.kind is RecordKind.COMMITMENT:
        promised = roles & {Role.USER, Role.SUPERVISOR}
        return None if promised else "a commitment needs the words of who made it"
    if proposal.kind is RecordKind.FACT and roles == {Role.SUPERVISOR}:
        return "a supervisor's restatement proves nothing"
    return None


def _distrust_users(proposal: Proposal, roles: AbstractSet[Role]) -> str | None:
    if Role.USER not in roles:
        return "only the user's own words can back this"
    if Role.EXTERNAL in roles:
        return "external text can't stand beside the user's words here"
    if proposal.fact_class is FactClass.PROFILE and roles != {Role.USER}:
        return "a profile rests on the user's words alone"
    return None
