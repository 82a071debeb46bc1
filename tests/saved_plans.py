"""Saved plans for tests of their views, and texts that try to leave their place in one."""

from pulsus.core.compose.plans.dsl.plan_mapping import plan_from_dict
from pulsus.core.compose.saved_plans.saved_plan import SavedInput, SavedPlan, StepReview
from pulsus.core.types import Effects

PINNED = "ab" * 32
HOSTILE = (
    "` `` ``` | a | b |",
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "[x](https://evil.test) ![y](https://evil.test/z.png) https://evil.test www.evil.test",
    "@everyone #1 **bold** _it_ ~~no~~ <!-- -->",
    "# head\n- item\n\n---\n```\nout",
    'end"]; click s1 href "https://evil.test"; style s1 fill:#f00; %%{init: {}}%%',
    "]]><svg onload=alert(1)> &amp; &#64; \\| \\` \\",
    "a\x1b[31mred\x07\x00\u202egnp.exe\u2028\x85z",
    "|" * 40 + "\\|" * 20,
    "`",
)


def step(name, tool="d/a/reader", **fields):
    return {"id": name, "tool": tool, "sha256": PINNED, "version": "1.0.0", **fields}


def saved(*steps, writes=(), inputs=None, reviews=None, returns=(), **fields):
    """A saved plan of these rows. `inputs` has values or SavedInputs, `reviews` changed reviews."""
    given = {
        name: each if isinstance(each, SavedInput) else SavedInput(each, "option")
        for name, each in (inputs or {}).items()
    }
    params = fields.pop("params", list(given))
    body = {"steps": list(steps), "description": fields.pop("description", "")}
    plan = plan_from_dict({"plan": body, "io": {"params": params, "returns": list(returns)}})
    review = tuple(
        (reviews or {}).get(each.id)
        or StepReview(each.id, "write" if each.id in writes else "read", Effects())
        for each in plan.steps
    )
    fields = {"catalogue": "c" * 64, "settings": {}, **fields}
    return SavedPlan(plan=plan, inputs=given, review=review, **fields)
