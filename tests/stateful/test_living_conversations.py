"""Conversations that live: searched, loaded, called, compacted, cut, forked, handed over, while the tools change.

After every step the next request is built and compared with what a few plain lists say must be in it.
"""

from __future__ import annotations

import json

import wires
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from known import called_as, knows, tells_schema
from long_runs import run_settings
from pool import POOL, SPACES, WIRE, Version, definition, leaks, marker
from spoken import apis, asked, called, cap_of, configs, is_good, tools, versions
from talk import Step, Talk, copied, meant

from semantic_toolsearch import SearchConfig, ToolSearch
from semantic_toolsearch.compaction import compact, compaction_note, is_compaction_note
from semantic_toolsearch.loaded import loaded_names
from semantic_toolsearch.testing import HashingEmbedder
from semantic_toolsearch.trimming import clear_outputs, fit_history

MOST_BRANCHES = 4


class Conversations(RuleBasedStateMachine):
    """Several branches of one conversation over one ``ToolSearch``."""

    embedder = HashingEmbedder(64)

    @initialize(
        config=configs,
        there=st.dictionaries(tools, versions, min_size=1, max_size=len(POOL)),
        api=apis,
    )
    def begin(self, config, there, api):
        self.config = SearchConfig(**config)
        self.there = {tool: there[tool] for tool in POOL if tool in there}
        self.hidden, self.style = set(), None
        self.search = ToolSearch(
            [definition(*row) for row in self.there.items()],
            config=self.config,
            embedder=self.embedder,
            cache=False,
        )
        self.generation = 0
        self.mode = self.prefer = None
        self.talks = [Talk(api, [Step("user", (wires.user(api, "Begin."),))])]
        self.at = 0

    # --- what is there ---

    @property
    def talk(self):
        return self.talks[self.at]

    @talk.setter
    def talk(self, talk):
        self.talks[self.at] = talk

    @property
    def seen(self):
        return {tool: version for tool, version in self.there.items() if tool not in self.hidden}

    @property
    def visible(self):
        if not self.hidden and self.style is None:
            return None
        seen = set(self.seen)
        if self.style == "function":
            return lambda tool: tool.identity in seen
        return [WIRE[tool] for tool in seen]

    def turn(self, talk=None, **options):
        talk = talk or self.talk
        mode = self.mode if self.mode in _MODES[talk.api] else None
        return self.search.turn(
            talk.messages,
            **{
                "model": wires.MODELS[talk.api],
                "api": talk.api,
                "visible": self.visible,
                "prefer": self.prefer,
                "mode": mode,
                "validate": True,
                **options,
            },
        )

    # --- what a model does ---

    @rule(searches=st.lists(asked, max_size=2), calls=st.lists(called, max_size=3))
    def the_model_searches_and_calls(self, searches, calls):
        turn, before, api = self.turn(), self.talk.loaded(self.seen), self.talk.api
        if turn.plan.search not in ("ours", None):  # a model also calls a search that it has not been offered
            searches = []
        made = [(called_as(turn, tool, self.there), given) for tool, given in calls]
        answer = wires.response(api, turn.plan.mode, searches, made)
        ran = []
        results = turn.results(answer, lambda call: ran.append(call) or "done")
        assert len(results) == len(searches) + len(calls)
        said = [searches, [WIRE.get(tool, tool) for tool, _ in calls]]
        assert not leaks(results, self.seen, said)
        found = self._check_searches(turn, searches, results[: len(searches)], before)
        # A bare name never means a tool of a namespace where calls name theirs.
        aims = [
            tool if api == "responses" and "namespace" not in place else meant(tool, self.seen)
            for (tool, _), (place, _) in zip(calls, made, strict=True)
        ]
        self._check_calls(turn, aims, [given for _, given in calls], ran, results[len(searches) :], found)
        if not searches and not calls:
            return
        messages = (*wires.said(api, answer), *wires.results_as_messages(api, results))
        names = tuple(WIRE.get(tool, tool) for tool, _ in calls)
        step = Step("model", messages, names, tuple(found) if searches else None)
        self.talk.steps.append(step)
        following = self.turn()
        fresh = set(self.talk.loaded(self.seen)) - set(before)
        keeps_its_list = turn.plan.mode in ("reference", "output", "bridge")
        if not fresh or (keeps_its_list and fresh <= set(found)):
            assert json.dumps(following.tools) == json.dumps(turn.tools), (turn.plan, following.plan)
            assert following.instructions == turn.instructions

    @precondition(lambda self: self.turn().plan.mode == "hosted")
    @rule(data=st.data())
    def the_provider_searches(self, data):
        turn, api = self.turn(), self.talk.api
        deferred = [tool for tool in self.there if WIRE[tool] in turn.plan.deferred]
        found = data.draw(st.lists(st.sampled_from(deferred), unique=True, max_size=4))
        entries = [
            each
            for tool in found
            for each in wires.found_entries(turn.tools, {marker(tool, self.there[tool])})
        ]
        answer = wires.hosted(api, entries)
        assert turn.results(answer, lambda call: "done") == []
        self.talk.steps.append(Step("model", tuple(wires.said(api, answer)), found=tuple(found)))
        assert json.dumps(self.turn().tools) == json.dumps(turn.tools)

    @rule()
    def the_user_speaks(self):
        self.talk.steps.append(Step("user", (wires.user(self.talk.api, "Go on."),)))

    @precondition(lambda self: self.seen)
    @rule(data=st.data())
    def a_tool_is_forced(self, data):
        tool = data.draw(st.sampled_from(sorted(self.seen, key=POOL.index)))
        turn = self.turn(tool_choice=WIRE[tool])
        assert WIRE[tool] in turn.plan.full
        following = turn.next(self.talk.messages)
        assert WIRE[tool] in following.plan.full
        assert following.plan.forced is None

    # --- what a host does ---

    @rule(data=st.data(), way=st.sampled_from(["compact", "note", "note without catalog"]))
    def the_conversation_is_compacted(self, data, way):
        talk = self.talk
        everything = {tool: self.there[tool] for tool in self.there}
        count = data.draw(st.integers(0, len(talk.steps)))
        going = talk.steps[:count]
        if way == "compact":
            going = data.draw(st.lists(st.sampled_from(talk.steps), unique_by=id)) if talk.steps else []
            # One message takes the others of its step with it; parallel calls of Responses are items of their own.
            ends = (
                slice(None)
                if talk.api == "responses"
                else data.draw(st.sampled_from([slice(1), slice(-1, None)]))
            )
            picked = {id(message) for step in going for message in step.messages[ends]}
            drop = [at for at, message in enumerate(talk.messages) if id(message) in picked]
            kept = compact(talk.messages, drop, self.search.catalog)
        else:
            gone = [message for step in going for message in step.messages]
            rest = [message for step in talk.steps[count:] for message in step.messages]
            note = compaction_note(gone, rest, self.search.catalog if way == "note" else None)
            kept = rest
            if note is not None:
                kept = [note, *(message for message in rest if not is_compaction_note(message))]
        new = talk.kept(kept)
        # Calls of what is always there are not worth a note: those may be forgotten, and nothing else.
        only_called = {tool for step in going for tool in step.known if tool not in (step.found or ())}
        excused = {tool for tool in only_called if everything.get(tool, Version(0)).defer == "never"}
        before = [tool for tool in talk.loaded(everything) if tool not in excused]
        after = [tool for tool in new.loaded(everything) if tool not in excused]
        assert after == before, (after, before, [step for step in new.steps if step.kind == "note"])
        self.talk = new
        self._begins_with_a_user()

    @rule(share=st.floats(0, 1.2), reserve=st.integers(0, 50))
    def the_conversation_is_cut_to_a_budget(self, share, reserve):
        def size(value):
            return len(json.dumps(value, ensure_ascii=False))

        messages = self.talk.messages
        kept = fit_history(
            messages, int(share * size(messages)) + reserve, size, self.search.catalog, reserve=reserve
        )
        assert not any(message not in messages for message in kept)
        self.talk = self.talk.kept(kept)
        self._begins_with_a_user()

    @rule(last=st.integers(0, 3))
    def old_outputs_are_cleared(self, last):
        self.talk = self.talk.with_messages(clear_outputs(self.talk.messages, last))

    @rule()
    def the_conversation_is_resumed(self):
        self.talk = self.talk.with_messages(copied(self.talk.messages))

    @precondition(lambda self: len(self.talks) < MOST_BRANCHES)
    @rule()
    def the_conversation_is_forked(self):
        self.talks.append(self.talk.fork())

    @rule(branch=st.integers(0, MOST_BRANCHES - 1))
    def another_branch_goes_on(self, branch):
        self.at = branch % len(self.talks)

    @rule(api=apis)
    def the_conversation_is_handed_over(self, api):
        if api != self.talk.api:
            mixed = loaded_names(self.talk.messages, self.search.catalog)
            self.talk = self.talk.handed_to(api)
            assert loaded_names(self.talk.messages, self.search.catalog) == mixed

    @rule(mode=st.sampled_from([None, "stub", "bridge", "reference", "output", "hosted"]))
    def a_mode_is_asked_for(self, mode):
        self.mode = mode

    @rule(prefer=st.sampled_from([None, "client", "hosted"]))
    def a_preference_is_stated(self, prefer):
        self.prefer = prefer

    # --- what happens to the tools ---

    @rule(
        space=st.sampled_from(SPACES),
        fresh=st.dictionaries(tools, versions, max_size=8),
        keep=st.booleans(),
    )
    def a_server_changes_its_tools(self, space, fresh, keep):
        old = {tool: version for tool, version in self.there.items() if keep and tool[0] == space}
        new = {**old, **{tool: version for tool, version in fresh.items() if tool[0] == space}}
        report = self.search.replace(space, [definition(*row) for row in new.items()])
        assert len(report.quarantined) == 0
        self.there = {tool: version for tool, version in self.there.items() if tool[0] != space} | new
        self.generation += 1

    @rule(hidden=st.sets(tools, max_size=12), style=st.sampled_from([None, "names", "function"]))
    def permissions_change(self, hidden, style):
        self.hidden, self.style = hidden, style

    # --- what must hold ---

    @invariant()
    def the_next_request_is_right(self):
        turn, talk, seen = self.turn(), self.talk, self.seen
        assert self.search.stats().generation == self.generation
        plan, expected = turn.plan, [WIRE[tool] for tool in talk.loaded(seen)]
        loaded = loaded_names(talk.messages, self.search.catalog, visible=_mask(self))
        assert list(loaded) == expected, (loaded, expected)
        assert set(plan.full) | set(plan.deferred) == {WIRE[tool] for tool in seen}
        assert not set(plan.full) & set(plan.deferred)
        deferrable = {WIRE[tool] for tool, version in seen.items() if version.defer != "never"}
        assert list(plan.loaded) == [name for name in expected if name in plan.loaded]
        if plan.mode != "full":
            # Nothing is forgotten: what is loaded and not marked so is in full for another reason.
            assert set(expected) - set(plan.loaded) <= set(plan.full)
        assert set(plan.loaded) <= deferrable
        if plan.mode == "stub":
            tail = list(plan.full[len(plan.full) - len(plan.loaded) :])
            assert tail == list(plan.loaded)
        written = [turn.tools, [line for line in turn.instructions.split("\n") if "loaded:" not in line]]
        assert not leaks(written, seen)
        wires.accepted(talk.api, turn)
        self._check_reach(turn)

    def _check_reach(self, turn):
        """Every visible tool is known to the model, or becomes so by the search of this very request."""
        talk, seen, plan = self.talk, self.seen, turn.plan
        unknown = []
        for tool, version in seen.items():
            entry = wires.entry_of(talk.api, turn.tools, marker(tool, version))
            if WIRE[tool] in plan.full:
                assert tells_schema(entry, tool, version)
            elif not knows(turn, talk, tool, version):
                unknown.append(tool)
        offered = wires.search_entry(talk.api, turn.tools)
        assert (offered is None) == (plan.search is None)
        if not unknown:
            return
        assert offered is not None
        tool = unknown[len(talk.messages) % len(unknown)]
        if plan.search == "ours":
            asked = {"query": "", "names": [WIRE[tool]]}
            answer = wires.response(talk.api, plan.mode, [asked], [])
            results = turn.answer(answer)
        else:
            found = wires.found_entries(turn.tools, {marker(tool, seen[tool])})
            assert found
            answer, results = wires.hosted(talk.api, found), []
        messages = (*wires.said(talk.api, answer), *wires.results_as_messages(talk.api, results))
        branch = talk.fork()
        branch.steps.append(Step("model", messages, found=(tool,)))
        following = self.turn(branch)
        assert WIRE[tool] in following.plan.full or knows(following, branch, tool, seen[tool])

    def _check_searches(self, turn, searches, results, before):
        """What each search loads: bounded, visible, the tool that is named first; returned in order, once each."""
        config, seen, found = self.config, self.seen, {}
        at_hand = {*turn.plan.full, *turn.plan.loaded}
        for sent, result in zip(searches, results, strict=True):
            names = [name for name in wires.loaded_by(turn.plan.api, result) if name not in at_hand]
            assert len(names) == len(set(names))
            assert set(names) <= {WIRE[tool] for tool in seen}
            if not sent.get("names"):
                assert len(names) <= cap_of(config, sent)
            queries = [sent["query"], *sent.get("queries", ())]
            wanted = next((WIRE[tool] for tool in seen if WIRE[tool] == sent["query"]), None)
            in_scope = config.search_scope == "visible" or wanted not in turn.plan.full
            if wanted is not None and in_scope and not sent.get("names"):
                assert wanted in at_hand or names[0] == wanted, (queries, names)
            for name in sent.get("names") or ():
                known = name in {WIRE[tool] for tool in seen}
                assert (name in names) == (known and name not in at_hand)
            told = wires.loaded_by(turn.plan.api, result)
            assert set(told) - set(names) <= {WIRE[tool] for tool in before} | set(turn.plan.full)
            found |= dict.fromkeys(tool for name in told for tool in POOL if WIRE[tool] == name)
        return list(found)

    def _check_calls(self, turn, aims, arguments, ran, results, found):
        """A call runs once if its tool is visible and its arguments are right; the name is the owner's."""
        at_hand = {*turn.plan.full, *turn.plan.loaded, *(WIRE[tool] for tool in found)}
        may_guess = self.config.unloaded_calls == "run"
        runs = [
            tool in self.seen and is_good(given) and (may_guess or WIRE[tool] in at_hand)
            for tool, given in zip(aims, arguments, strict=True)
        ]
        expected = [tool for tool, run in zip(aims, runs, strict=True) if run]
        assert [(call.namespace, call.name) for call in ran] == expected, (ran, expected)
        assert all(isinstance(call.arguments["count"], int) for call in ran)
        texts = [wires.answer_text(turn.plan.api, result) for result in results]
        assert [text == "done" for text in texts] == runs, texts
        assert all(texts)

    def _begins_with_a_user(self):
        """A host does not send a conversation that begins in the middle."""
        steps = [step for step in self.talk.steps if step.kind != "note"]
        if not steps or steps[0].kind != "user":
            at = len(self.talk.steps) - len(steps)
            self.talk.steps.insert(at, Step("user", (wires.user(self.talk.api, "Begin."),)))


_MODES = {
    "anthropic": ("stub", "bridge", "reference", "hosted"),
    "responses": ("stub", "bridge", "output", "hosted"),
    "chat": ("stub", "bridge"),
    "gemini": ("stub", "bridge"),
}


def _mask(machine):
    seen = machine.seen
    return [tool.identity in seen for tool in machine.search.catalog]


TestConversations = Conversations.TestCase
TestConversations.settings = run_settings(examples=20, steps=25)
