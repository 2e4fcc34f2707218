"""From a model's reply to an observation: read strictly, or refused as a whole (mission C4, G3)."""

from typing import Final

from pipeline.observers.anthropic_faults import content_fault
from pipeline.observers.schemas import AnswerModel, ReplyModel
from pipeline.rules.wording import degenerate
from storage.records.runs import Observation

TOOL: Final = "propose"
"""The tool that a model hands its answer to, where the answer is bound by a tool."""

_COMPLETE: Final = frozenset({"end_turn", "tool_use", "stop_sequence"})
_TOLD: Final = {
    "refusal": "The model refuses to read this package.",
    "max_tokens": "The model's answer was cut off: raise observer.max_tokens.",
    "model_context_window_exceeded": "The package is too long for this model.",
}


def observation_of(reply: ReplyModel) -> Observation:
    """What a model's reply proposes. Its thoughts, if it sent any, are left unread (mission B6).

    Raises:
        ObserverFault: The model refused, was cut off, or said nothing that can be read; of kind
            content, since it says so of this package.
    """
    if reply.stop_reason not in _COMPLETE:
        told = _TOLD.get(reply.stop_reason, f"The model stopped early: {reply.stop_reason}.")
        raise content_fault(told)
    answer = _answer(reply)
    reason = answer.nothing_worth_keeping
    proposals = tuple(item.to_proposal() for item in answer.proposals)
    if proposals and reason is not None:
        raise content_fault("The model proposes, and says that nothing is worth keeping.")
    if not proposals and reason is None:
        raise content_fault("The model neither proposes anything nor says why not.")
    if proposals and all(degenerate(proposal.content) for proposal in proposals):
        raise content_fault("The model's proposals say nothing, or repeat themselves.")
    return Observation(proposals, reason.value if reason else None)


def _answer(reply: ReplyModel) -> AnswerModel:
    """The answer in a tool's input, or in the text."""
    given = [block.input for block in reply.content if block.type == "tool_use"]
    text = "".join(block.text for block in reply.content if block.type == "text").strip()
    if not given and not text:
        raise content_fault("The model's answer is empty.")
    try:
        if given:
            (only,) = given
            return AnswerModel.model_validate(only)
        return AnswerModel.model_validate_json(text)
    except ValueError:
        # What it says is left out: it may be the user's text.
        raise content_fault("The model's answer does not fit its schema.") from None
