"""How the pages of this folder become a site; `make docs` builds it.

Sphinx, of the generators that read Markdown and docstrings: it is maintained by many and checks every reference, while
MkDocs 1 has had no release since 2024, Material for MkDocs is in maintenance, and Zensical is not yet stable.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.ext.napoleon import GoogleDocstring

from semantic_toolsearch import __version__

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

project = "semantic_toolsearch"
project_copyright = "the semantic_toolsearch maintainers"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

# Pages are Markdown that reads well without being built: plain links to files, anchors as forges make them.
myst_heading_anchors = 4

# Whatever a page or a docstring refers to must exist, but for other packages' types (their inventories would have to
# be fetched, and this builds without a network), values of a Literal, and types that are told in words only.
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(annotated_types|collections|np|npt|numpy|os|pathlib|pydantic|types|typing)\..*"),
    ("py:class", r"Any|PathLike|Path|Self|BlockingPortal|NoneType|Server|.*\._F|.*\.Record"),
]

default_role = "code"
add_module_names = False
python_use_unqualified_type_names = True
python_display_short_literal_types = True
python_maximum_signature_line_length = 88
autodoc_class_signature = "mixed"
autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_preserve_defaults = True
autodoc_typehints_format = "short"
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_attr_annotations = False  # a type stands in the signature

html_theme = "furo"
html_title = "semantic-toolsearch"
html_static_path = ["_static"]
html_css_files = ["width.css"]
html_show_sphinx = False
html_copy_source = False

_ANNOTATED = re.compile(r"(?:~?typing\.)?Annotated\[([^,\[\]]+), (?:[^\[\]]|\[[^\[\]]*\])*\]")
_OUTSIDE = re.compile(r"\]\((?=(?:\.\./)+[a-zA-Z])([^)#\s]+)\)")


def _files_outside(app: Sphinx, docname: str, source: list[str]) -> None:
    """Links to files of the repository that are no pages become downloads; a file that is not there is an error."""
    folder = Path(app.srcdir, docname).parent

    def link(match: re.Match[str]) -> str:
        target = Path(folder, match[1]).resolve()
        return match[0] if target.is_relative_to(app.srcdir) else f"](<path:{match[1]}>)"

    source[0] = _OUTSIDE.sub(link, source[0])


def _by_last_name(app: Sphinx, env: Any, node: Any, contnode: nodes.Element) -> nodes.Node | None:
    """Annotations name a type as their module imports it: find the one documented type of that name."""
    if node.get("refdomain") != "py" or node["reftarget"].startswith(("np.", "npt.")):
        return None
    last = node["reftarget"].rpartition(".")[2]
    domain = env.get_domain("py")
    found = {
        name: entry
        for name, entry in domain.objects.items()
        if name.rpartition(".")[2] == last
        and not entry.aliased
        and entry.objtype not in ("method", "property")
    }
    if len(found) != 1:
        return None
    ((name, entry),) = found.items()
    from sphinx.util.nodes import make_refnode

    return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, contnode, name)


_told: dict[str, list[str]] = {}


def _before_napoleon(
    app: Sphinx, what: str, name: str, documented: Any, options: Any, lines: list[str]
) -> None:
    """Keep what is told about attributes, and add the defaults of settings."""
    if what in ("attribute", "data", "property"):
        _told[name] = list(lines)
    fields = getattr(documented, "model_fields", {}) if what == "class" else {}
    described = [(at, match[1]) for at, line in enumerate(lines) if (match := re.match(r"    (\w+): ", line))]
    for at, field in reversed(described):
        if field in fields and not fields[field].is_required():
            end = next((n for n in range(at + 1, len(lines)) if not lines[n].startswith("     ")), len(lines))
            lines[end - 1] += f" Default: ``{fields[field].default!r}``."


def _after_napoleon(
    app: Sphinx, what: str, name: str, documented: Any, options: Any, lines: list[str]
) -> None:
    """Napoleon takes what stands before a colon for the type of an attribute; here it is a sentence."""
    if name in _told:
        text = GoogleDocstring(_told.pop(name), app.config, app, "method", name, documented, options)
        lines[:] = text.lines()


def _parsable(
    app: Sphinx,
    what: str,
    name: str,
    documented: Any,
    options: Any,
    signature: str | None,
    returned: str | None,
) -> tuple[str | None, str | None]:
    """Show what can be read: no default that each object makes for itself, and no checks of a value."""
    if signature:
        signature = _ANNOTATED.sub(r"\1", signature.replace("<factory>", "..."))
    return signature, returned


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect them."""
    app.connect("source-read", _files_outside)
    app.connect("missing-reference", _by_last_name)
    app.connect("autodoc-process-docstring", _before_napoleon, priority=400)
    app.connect("autodoc-process-docstring", _after_napoleon, priority=600)
    app.connect("autodoc-process-signature", _parsable)
    return {"parallel_read_safe": True}
