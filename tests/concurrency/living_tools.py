"""Tools of which every text tells the generation, and what one answer must then look like."""

from __future__ import annotations

from library_tools import t

JOBS = 6


def generation(number):
    """A server's tools: one comes and goes with its generation, the others change their words and schemas."""
    field = {f"field_{number}": {"type": "string"}}
    return [
        t(f"only_{number}", f"Serve generation {number}", "live", **field),
        *(
            t(f"job_{each}", f"Serve generation {number} with job {each}", "live", **field)
            for each in range(JOBS)
        ),
    ]


STILL = [t("rock", "Serve nothing"), t("stone", "Serve nothing at all")]


def names_of(number):
    return {"rock", "stone", f"live__only_{number}", *(f"live__job_{each}" for each in range(JOBS))}


def faults_of(result):
    """What in a result is not of the generation that it states; empty when nothing is torn."""
    number, faults = result.generation, []
    for hit in (*result.tools, *result.hints):
        if hit.name not in names_of(number):
            faults.append(hit.name)
        elif hit.name.startswith("live__"):
            if not hit.tool.description.startswith(f"Serve generation {number}"):
                faults.append(hit.tool.description)
            if list(hit.tool.parameters["properties"]) != [f"field_{number}"]:
                faults.append(hit.tool.parameters)
    faults += sorted({*result.names} - names_of(number))
    if result.total != len(names_of(number)):
        faults.append(result.total)
    if result.namespaces and dict(result.namespaces) != {"live": JOBS + 1}:
        faults.append(result.namespaces)
    return faults


def faults_of_turn(turn, number):
    """The same for a turn's request, whose stubs tell the generation too."""
    entries = {entry["function"]["name"]: entry["function"] for entry in turn.tools}
    wrong = {*turn.plan.full, *turn.plan.deferred} ^ names_of(number)
    wrong |= ({*entries} - {"tool_search"}) ^ names_of(number)
    live = [entries[name] for name in entries if name.startswith("live__")]
    return [*wrong, *(entry for entry in live if f"generation {number}" not in entry["description"])]
