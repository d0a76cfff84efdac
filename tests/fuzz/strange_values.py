"""Values that a server or a model may send instead of what is wanted, as hypothesis strategies."""

from __future__ import annotations

from types import MappingProxyType

from hypothesis import strategies as st


class _Shown:
    """A value that hypothesis can print although Python cannot."""

    def _repr_pretty_(self, printer, cycle):
        printer.text(f"{type(self).__name__}(...)")


class Huge(_Shown, int):
    """An integer with more digits than Python writes."""


class DeepList(_Shown, list):
    """The outermost of very many lists."""


class LongList(_Shown, list):
    """A list that nobody wants to see printed."""


class DeepDict(_Shown, dict):
    """The outermost of very many objects."""


class Raising(_Shown):
    """An object that raises whatever is asked of it, as broken SDK objects do."""

    def __getattr__(self, name):
        raise RuntimeError(name)

    def __repr__(self):
        raise RuntimeError("repr")

    def model_dump(self, **options):
        raise RuntimeError("dump")

    def __iter__(self):
        raise RuntimeError("iter")


class Dumped:
    """An SDK object: what `model_dump` gives is what it holds."""

    def __init__(self, value):
        self.value = value

    def model_dump(self, **options):
        return self.value

    def __repr__(self):
        return f"Dumped({self.value!r})"


def nested(levels, kind="list"):
    """Containers inside containers, made without recursion."""
    value = 1
    for _ in range(levels):
        value = (
            [value] if kind == "list" else {"properties": {"a": value}} if kind == "schema" else {"a": value}
        )
    return DeepList(value) if kind == "list" else DeepDict(value)


def cyclic(kind):
    value = {} if kind == "dict" else []
    if kind == "dict":
        value["a"] = {"properties": value, "type": "object"}
    else:
        value.append(value)
    return value


WORDS = (
    "", " ", "a", "tool_search", "call_tool", "search", "read_file", "x" * 70, "名前", "ß", "İ", "\x00", "a\x00b",
    "\ud83d", "a\udc00", "\u202egnp", "\u200b", "{}", "[", '{"a": 1', "null", "NaN", "1e999", "0", "-1", "#", "#/",
    "#/$defs/a", "#a", "$ref", "__proto__", "a" * 5_000, "(" * 300, "a.b.c", "a/b", "mcp__a__b", "true", "\u2028",
)  # fmt: skip


def _word(at):
    return WORDS[at]


texts = (
    st.builds(_word, st.integers(0, len(WORDS) - 1))
    | st.text(max_size=12)
    | st.text(st.characters(), max_size=6)
)
"""Texts as JSON may spell them: lone surrogates, NULs and hidden characters among them."""

numbers = st.sampled_from(
    [0, 1, -1, 3, 20, 2**53 + 1, 2**63, 10**18, 10**400, -(10**400), 0.5, 1e308, -1e308, 5e-324, 3.0, -0.0]
) | st.integers(-50, 50)
leaves = st.none() | st.booleans() | numbers | texts
json_values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)
"""What a JSON text may hold."""

odd_values = st.one_of(
    st.sampled_from([float("nan"), float("inf"), -float("inf"), b"bytes", 1j, object, ...]),
    st.builds(lambda: Huge(10**5_000)),
    st.builds(set),
    st.builds(
        nested, st.sampled_from([50, 99, 101, 900, 100_000]), st.sampled_from(["list", "dict", "schema"])
    ),
    st.builds(cyclic, st.sampled_from(["dict", "list"])),
    st.builds(MappingProxyType, st.dictionaries(texts, leaves, max_size=2)),
    st.builds(tuple, st.lists(leaves, max_size=3)),
    st.dictionaries(st.sampled_from([None, 1, True, 2.5, ("a",), "name"]), leaves, max_size=2),
    st.builds(Dumped, json_values),
    st.builds(lambda: LongList(["x"] * 3_000)),
)
"""What a parser or a program may hold in its place: no JSON, or JSON beyond all bounds."""

anything = json_values | odd_values | st.builds(Raising)


@st.composite
def mutated(draw, base, replacements=anything, changes=2):
    """A value of ``base`` with up to ``changes`` places replaced, removed, doubled, renamed or wrapped."""
    value = draw(base)
    for _ in range(draw(st.integers(0, changes))):
        value = _changed(draw, value, replacements)
    return value


def _changed(draw, value, replacements):
    """Return the value with one place changed; containers on the way there are copied."""
    holds = isinstance(value, dict | list) and len(value) > 0
    if not holds or draw(st.integers(0, 5)) == 0:
        return draw(replacements)
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = draw(st.sampled_from(keys))
    copy = value.copy()
    action = draw(
        st.sampled_from(["enter", "enter", "enter", "enter", "drop", "double", "rename", "wrap", "text"])
    )
    if action == "enter":
        copy[key] = _changed(draw, value[key], replacements)
    elif action == "drop":
        del copy[key]
    elif action == "wrap":
        copy[key] = draw(
            st.sampled_from([[value[key]], {"value": value[key]}, Dumped(value[key]), (value[key],)])
        )
    elif action == "text":
        copy[key] = f"a text in place of {type(value[key]).__name__}"
    elif isinstance(copy, list):
        copy.insert(draw(st.integers(0, len(copy))), value[key])
    else:
        copy[draw(texts)] = copy.pop(key) if action == "rename" else copy[key]
    return copy
