"""Rounds to test with."""

from __future__ import annotations

from typing import Any


def question(
    text: str, *others: str, area: str = "scope", best: str = "The cart", why: str = "It is big."
) -> dict[str, Any]:
    """A question as the model gives it."""
    return {
        "question": text,
        "area": area,
        "why": why,
        "recommended": {"answer": best, "reason": "It is used most."},
        "options": [{"answer": other, "description": f"about {other}"} for other in others],
    }


def areas(**states: str) -> dict[str, dict[str, str]]:
    """How far each area is clear; open where nothing is said."""
    names = ("scope", "consumer", "success", "edge cases", "errors")
    return {n: {"state": states.get(n.replace(" ", "_"), "open"), "note": ""} for n in names}


def round_of(*questions: dict[str, Any], **states: str) -> dict[str, Any]:
    """A round as the model gives it."""
    return {"questions": list(questions), "areas": areas(**states)}


SPEC: dict[str, Any] = {
    "title": "A faster cart",
    "summary": "The cart answers at once.",
    "scope": ["The cart"],
    "non_goals": ["The checkout"],
    "interfaces": ["`GET /cart`"],
    "acceptance_criteria": ["A cart of 100 items is shown within 1 s"],
    "assumptions": ["The database stays"],
    "open_questions": [],
}
