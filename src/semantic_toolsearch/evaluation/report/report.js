"use strict";

/* Shows the queries that stand as JSON in this page. Texts come from strangers: they are set as text, never as HTML. */
(() => {
  const source = document.getElementById("data");
  const place = document.getElementById("browser");
  if (!source || !place) return;
  const { arms, tasks, measure } = JSON.parse(source.textContent);
  const armOf = new Map(arms.map((arm) => [arm.name, arm]));
  const queries = tasks.flatMap((task) => task.queries.map((query) => ({ ...query, task, key: `${task.task}/${query.id}` })));

  const make = (tag, className, ...children) => {
    const made = document.createElement(tag);
    if (className) made.className = className;
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
  };
  const figure = (value) => (Math.abs(value) >= 10 ? value.toFixed(1) : String(+value.toFixed(3)));
  const plural = (count, one) => `${count} ${one}${count === 1 ? "" : "s"}`;
  const has = (list, item) => (list || []).includes(item);

  const isRight = (query, tool) => has(query.gold, tool) || has(query.copies, tool);
  const found = (query, arm) => (arm.values && measure in arm.values ? arm.values[measure] === 1 : Boolean(arm.complete));

  /* Controls */

  const option = (value, text) => {
    const made = make("option", "", text);
    made.value = value;
    return made;
  };
  const group = (label, options) => {
    const made = make("optgroup", "", ...options);
    made.label = label;
    return made;
  };
  const control = (text, field, className) => make("label", className || "", text, field);

  const byTask = make("select", "", option("", "All tasks"), ...tasks.map((task) => option(task.task, task.task)));
  const bySlice = make("select");
  const byOutcome = make(
    "select",
    "",
    option("", "All queries"),
    option("differs", "Arms differ"),
    group("Gold missed in the first five by", arms.filter((arm) => arm.ranks).map((arm) => option(`missed ${arm.name}`, arm.label))),
    group("Not everything loaded by", arms.map((arm) => option(`unloaded ${arm.name}`, arm.label))),
    queries.some((query) => query.answerable === false) ? option("unfit", "Nothing fits") : null,
  );
  const byText = make("input");
  byText.type = "search";
  byText.placeholder = "Words of a query or a tool’s name";
  const counted = make("p", "count");
  counted.setAttribute("role", "status");
  const list = make("ol");
  list.setAttribute("aria-label", "Queries");
  const shown = make("article", "query");
  shown.setAttribute("aria-label", "Query");

  const fillSlices = () => {
    const chosen = bySlice.value;
    const axes = new Map();
    for (const query of queries) {
      if (byTask.value && query.task.task !== byTask.value) continue;
      for (const [axis, value] of Object.entries(query.slices || {})) {
        if (!axes.has(axis)) axes.set(axis, new Set());
        axes.get(axis).add(value);
      }
    }
    const groups = [...axes].filter(([, values]) => values.size > 1);
    bySlice.replaceChildren(
      option("", "All kinds"),
      ...groups.map(([axis, values]) => group(axis, [...values].sort().map((value) => option(`${axis}\t${value}`, value)))),
    );
    bySlice.value = [...bySlice.options].some((each) => each.value === chosen) ? chosen : "";
  };

  const matches = (query) => {
    if (byTask.value && query.task.task !== byTask.value) return false;
    const [axis, value] = bySlice.value.split("\t");
    if (bySlice.value && (query.slices || {})[axis] !== value) return false;
    const outcome = byOutcome.value;
    if (outcome === "differs" && !query.differs) return false;
    if (outcome === "unfit" && query.answerable !== false) return false;
    const [which, ...rest] = outcome.split(" ");
    if (which === "missed" || which === "unloaded") {
      const arm = query.arms.find((each) => each.arm === rest.join(" "));
      if (!arm || (which === "missed" ? query.answerable === false || found(query, arm) : arm.complete)) return false;
    }
    const words = byText.value.toLowerCase().split(/\s+/).filter(Boolean);
    return words.every((word) => searchable(query).includes(word));
  };
  const texts = new Map();
  const searchable = (query) => {
    if (!texts.has(query)) {
      const mentioned = new Set([...(query.gold || []), ...query.arms.flatMap((arm) => arm.ranked || arm.loaded || [])]);
      const names = [...mentioned].map((tool) => query.task.tools[tool].name);
      texts.set(query, [query.text, query.id, ...names].join(" ").toLowerCase());
    }
    return texts.get(query);
  };

  /* The list */

  let current = null;
  let listed = [];

  const entry = (query) => {
    const dots = query.arms.map((arm) => {
      const right = found(query, arm);
      const dot = make("span", right ? "dot yes" : "dot", armOf.get(arm.arm).letter);
      dot.title = `${armOf.get(arm.arm).label}: ${right ? "found" : "missed"}`;
      return dot;
    });
    const button = make("button", "", make("span", "text", query.text), make("span", "score", query.task.task, ...dots));
    button.type = "button";
    button.dataset.key = query.key;
    button.addEventListener("click", () => choose(query, true));
    return make("li", "", button);
  };

  const update = () => {
    listed = queries.filter(matches);
    list.replaceChildren(...listed.map(entry));
    const asked = tasks.filter((task) => !byTask.value || task.task === byTask.value).reduce((sum, task) => sum + task.asked, 0);
    counted.textContent = `${plural(listed.length, "query").replace("querys", "queries")} shown, chosen from ${asked.toLocaleString("en")} asked`;
    if (!listed.includes(current)) choose(listed[0] || null, false);
    else mark();
  };

  const mark = () => {
    for (const button of list.querySelectorAll("button")) {
      const here = current !== null && button.dataset.key === current.key;
      button.setAttribute("aria-current", String(here));
      if (!here) continue;
      const top = button.offsetTop - list.offsetTop;
      if (top < list.scrollTop || top + button.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = top;
    }
  };

  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !listed.length) return;
    event.preventDefault();
    const next = Math.min(listed.length - 1, Math.max(0, listed.indexOf(current) + step));
    choose(listed[next], false, true);
    list.querySelectorAll("button")[next].focus();
  });

  /* One query */

  const named = (task, tool) => {
    const text = task.tools[tool];
    const name = make("span", "name", text.name);
    return text.namespace ? [name, " ", make("span", "space", `in ${text.namespace}`)] : [name];
  };

  const goldBox = (query) => {
    if (query.answerable === false) {
      return make("div", "gold", make("h4", "", "Nothing in the catalog answers this"), make("p", "says", "Right is to load no tool."));
    }
    const entries = (query.gold || []).map((tool) =>
      make("li", "", ...named(query.task, tool), make("span", "says", query.task.tools[tool].description || "No description.")),
    );
    for (const tool of query.copies || []) {
      entries.push(make("li", "", ...named(query.task, tool), make("span", "says", "A near copy of a gold tool; it counts too.")));
    }
    for (const id of query.lost || []) {
      entries.push(make("li", "", make("span", "name", id), make("span", "says", "Its definition cannot be used, so nobody finds it.")));
    }
    return make("div", "gold", make("h4", "", entries.length > 1 ? "Gold tools" : "Gold tool"), make("ul", "", ...entries));
  };

  const explanation = (query, tool, why) => {
    const text = query.task.tools[tool];
    const box = make("div", "why");
    if (text.description) box.append(make("p", "", text.description));
    if (!why) return box;
    box.append(make("p", "", why.reason || why.verdict));
    const facts = make("dl");
    const fact = (name, value) => facts.append(make("dt", "", name), make("dd", "", value));
    fact("score", figure(why.score || 0));
    for (const [name, part] of Object.entries(why.parts || {})) fact(name, figure(part));
    for (const [field, words] of Object.entries(why.words || {})) if (words.length) fact(`in ${field}`, words.join(", "));
    box.append(facts);
    return box;
  };

  const hit = (query, arm, tool, rank) => {
    const why = (arm.why || []).find((each) => each.place === tool);
    const gold = isRight(query, tool);
    const loaded = has(arm.loaded, tool);
    const verdict = loaded ? "loaded" : why ? why.verdict : "";
    const cells = [
      make("span", "rank", rank ? String(rank) : "–"),
      make("span", "", ...named(query.task, tool), gold ? make("span", "hidden", " (gold)") : null),
      make("span", loaded ? "state loaded" : "state", verdict),
    ];
    const item = make("details", gold ? "hit is-gold" : "hit", make("summary", "", ...cells), explanation(query, tool, why));
    return make("li", "", item);
  };

  const armBox = (query, arm) => {
    const about = armOf.get(arm.arm);
    const box = make("section", "arm", make("h4", "", make("span", "letter", about.letter), about.label));
    box.style.setProperty("--series", `var(--series-${(about.place % 8) + 1})`);
    if (arm.failed) {
      box.append(make("p", "problem", `No answer: ${arm.failed}`));
      return box;
    }
    const size = arm.returned === undefined ? "loads everything" : arm.returned ? `loads ${plural(arm.returned, "tool")}` : "loads nothing";
    const values = Object.entries(arm.values || {}).filter(([name]) => name === measure || name === "nDCG@10");
    const told = values.map(([name, value]) => `${name} ${name === measure ? (value === 1 ? "yes" : "no") : figure(value)}`);
    box.append(make("p", "figures", [size, ...told].join(" · ")));
    const ranked = arm.ranked || [];
    const rows = ranked.map((tool, at) => hit(query, arm, tool, at + 1));
    const rankOf = (tool) => ((arm.why || []).find((each) => each.place === tool) || {}).rank;
    const others = [...new Set([...(arm.loaded || []), ...(arm.returned === undefined ? [] : query.gold || [])])];
    others.sort((one, other) => (rankOf(one) || Infinity) - (rankOf(other) || Infinity) || 0);
    for (const tool of others) if (!ranked.includes(tool)) rows.push(hit(query, arm, tool, about.ranks ? rankOf(tool) : 0));
    const nothing = arm.returned === undefined ? "Every tool is sent with every request." : "It finds no tool at all.";
    box.append(rows.length ? make("ol", "", ...rows) : make("p", "quiet", nothing));
    return box;
  };

  const choose = (query, jump, quiet) => {
    current = query;
    mark();
    if (!query) {
      shown.replaceChildren(make("p", "quiet", "No query fits these filters."));
      return;
    }
    const tags = [query.task.task, ...Object.entries(query.slices || {}).map(([axis, value]) => `${axis}: ${value}`), query.id];
    shown.replaceChildren(
      make("h3", "", query.text),
      make("p", "tags", ...tags.map((tag) => make("span", "", tag))),
      goldBox(query),
      make("div", "arms", ...query.arms.map((arm) => armBox(query, arm))),
    );
    if (jump || quiet) history.replaceState(null, "", `#query=${encodeURIComponent(query.key)}`);
    if (jump && matchMedia("(max-width: 52rem)").matches) shown.scrollIntoView({ block: "start" });
  };

  const fromAddress = () => {
    const wanted = /^#query=(.+)$/.exec(location.hash);
    if (!wanted) return null;
    try {
      const key = decodeURIComponent(wanted[1]);
      return queries.find((query) => query.key === key) || null;
    } catch {
      return null;
    }
  };

  place.replaceChildren(
    make(
      "div",
      "tools",
      control("Task", byTask),
      control("Kind", bySlice),
      control("Show", byOutcome),
      control("Search", byText, "wide"),
    ),
    make("div", "browser", make("div", "found", counted, list), shown),
  );
  for (const field of [byTask, bySlice, byOutcome]) {
    field.addEventListener("change", () => {
      if (field === byTask) fillSlices();
      update();
    });
  }
  byText.addEventListener("input", update);
  fillSlices();
  current = fromAddress();
  update();
  if (current && fromAddress()) {
    choose(current, false);
    document.getElementById("queries").scrollIntoView();
  }
})();
