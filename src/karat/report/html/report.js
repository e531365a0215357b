"use strict";
// Sorting, tooltips and the table of queries. Everything that comes from data is set as text.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const RUNS = data.runs.length;
  const CHUNK = 50;
  const SHORT = 160;
  const STATUS = { 1: "not in the run", 2: "error", 3: "timeout", 4: "unjudged" };
  // The fates that say more than a rank does, as data.reasons numbers them.
  const EXPLAINED = "23467";

  // Return an element; children are text or elements.
  function make(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "on") for (const [event, act] of Object.entries(value)) element.addEventListener(event, act);
      else if (value === true) element.setAttribute(key, "");
      else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
  }

  const score = (run, query, measure = 0) => data.scores[measure][run][query];
  const shown = (value) => (value === null ? "-" : (value / 1000).toFixed(Math.abs(value) < 100000 ? 3 : 1));
  const signed = (value) => (value > 0 ? "+" : "") + shown(value);
  const change = (from, to) => (from === null || to === null ? null : to - from);
  const brief = (text) => (text.length > SHORT ? text.slice(0, SHORT) + "…" : text);

  function shade(value) {
    if (value === null) return "hx";
    if (value <= 0) return "h0";
    return "h" + Math.min(Math.floor((value / 1000 / data.highest) * 5 + 1e-9) + 1, 5);
  }

  // ---- tables that can be sorted ----
  function sortBy(table, column, button) {
    const head = button.closest("th");
    const down = head.getAttribute("aria-sort") !== "descending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = (row) => {
      const cell = row.cells[column];
      const value = cell.dataset.value ?? cell.textContent;
      return value === "" || isNaN(value) ? value : Number(value);
    };
    const rank = (a, b) => {
      const numbers = typeof a === "number" && typeof b === "number";
      if (!numbers && typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
      const order = numbers ? a - b : String(a).localeCompare(String(b));
      return down ? -order : order;
    };
    const rows = [...table.tBodies[0].rows].sort((a, b) => rank(key(a), key(b)));
    table.tBodies[0].append(...rows);
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((cell, column) => {
      const button = make("button", { type: "button" });
      button.append(cell.firstChild);
      button.addEventListener("click", () => sortBy(table, column, button));
      cell.prepend(button);
    });
  }

  // ---- tooltips ----
  const tip = document.getElementById("tip");
  function place(event, text) {
    if (!text) { tip.hidden = true; return; }
    tip.textContent = text;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const left = Math.min(event.clientX + 14, innerWidth - box.width - 8);
    const below = event.clientY + 18;
    tip.style.left = Math.max(left, 8) + "px";
    tip.style.top = (below + box.height > innerHeight ? event.clientY - box.height - 12 : below) + "px";
  }

  // Return the query under the pointer in a chart that has one column per query.
  function queryAt(svg, event, order) {
    const box = svg.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
    const left = Number(svg.dataset.left), right = Number(svg.dataset.right);
    const column = Math.floor(((x - left) / (right - left)) * order.length);
    return column >= 0 && column < order.length ? order[column] : null;
  }

  function runAt(svg, event) {
    const box = svg.getBoundingClientRect();
    const y = ((event.clientY - box.top) / box.height) * svg.viewBox.baseVal.height;
    const run = svg.dataset.heatmap.split(" ")[Math.floor((y - svg.dataset.top) / svg.dataset.row)];
    return run === undefined ? null : Number(run);
  }

  function pointed(event) {
    const fall = event.target.closest("[data-waterfall]");
    if (fall) {
      const run = Number(fall.dataset.waterfall);
      const query = queryAt(fall, event, data.falls[run]);
      if (query === null) return null;
      const text = `${data.ids[query]}: ${signed(change(score(0, query), score(run, query)))} · ${brief(data.texts[query])}`;
      return { query, text };
    }
    const map = event.target.closest("[data-heatmap]");
    if (map) {
      const query = queryAt(map, event, data.order), run = runAt(map, event);
      if (query === null || run === null) return null;
      return { query, text: `${data.runs[run]}, ${data.ids[query]}: ${shown(score(run, query))} · ${brief(data.texts[query])}` };
    }
    const told = event.target.closest("[data-tip]");
    return told ? { query: null, text: told.dataset.tip } : null;
  }

  document.addEventListener("pointermove", (event) => place(event, pointed(event)?.text));
  document.addEventListener("pointerleave", () => { tip.hidden = true; });
  document.addEventListener("click", (event) => {
    if (!event.target.closest("svg")) return;
    const found = pointed(event);
    if (found && found.query !== null) open(found.query);
  });

  // ---- the table of queries ----
  const best = data.scores[0].map((row, run) => [row.reduce((sum, value) => sum + (value ?? 0), 0), run]);
  best.sort((a, b) => (data.lower[0] ? a[0] - b[0] : b[0] - a[0]));
  const other = best.map((pair) => pair[1]).find((run) => run !== 0) ?? 0;
  const state = { words: "", show: "all", sort: "order", a: 0, b: other, tag: "" };
  const sign = data.lower[0] ? -1 : 1;
  const gain = (query) => {
    const value = change(score(state.a, query), score(state.b, query));
    return value === null ? null : sign * value;
  };
  const all = data.ids.map((_, query) => query);
  const mean = (query) => {
    const known = data.scores[0].map((row) => row[query]).filter((value) => value !== null);
    return known.length ? (sign * known.reduce((sum, value) => sum + value, 0)) / known.length : Infinity;
  };
  const SHOW = {
    all: ["all queries", () => true],
    better: ["better in the second", (query) => gain(query) > 0],
    worse: ["worse in the second", (query) => gain(query) < 0],
    differ: ["that differ", (query) => gain(query) !== 0 && gain(query) !== null],
    missed: ["with a target that both miss", (query) => missedByBoth(query)],
    failed: ["not answered by one", (query) => data.statuses.some((row) => "123".includes(row[query]))],
  };
  const SORT = {
    order: ["as in the gold set", null],
    worse: ["largest loss first", (query) => gain(query) ?? Infinity],
    better: ["largest gain first", (query) => -(gain(query) ?? -Infinity)],
    hard: ["hardest first", mean],
  };

  const inTime = (run, query, target) => {
    const rank = data.found[run][query][target];
    return rank > 0 && rank <= data.k;
  };
  function missedByBoth(query) {
    return data.targets[query].some((target, number) => target[2] && !inTime(state.a, query, number) && !inTime(state.b, query, number));
  }

  const table = document.getElementById("explorer");
  const count = document.getElementById("count");
  const end = make("div", { "aria-hidden": "true" });
  const watch = new IntersectionObserver((seen) => {
    if (seen.some((entry) => entry.isIntersecting) && drawn < chosen.length) drawMore();
  }, { rootMargin: "400px" });
  let chosen = [];
  let drawn = 0;

  function choose() {
    const words = state.words.toLowerCase().split(/\s+/).filter(Boolean);
    const [, accept] = SHOW[state.show];
    const [tag, value] = state.tag ? JSON.parse(state.tag) : [null, null];
    chosen = all.filter((query) => {
      if (tag !== null && data.tags[tag][query] !== value) return false;
      if (!accept(query)) return false;
      const text = (data.ids[query] + " " + data.texts[query] + " " + data.targets[query].map((target) => target[0]).join(" ")).toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const [, key] = SORT[state.sort];
    if (key) chosen.sort((a, b) => { const x = key(a), y = key(b); return x < y ? -1 : x > y ? 1 : a - b; });
    count.textContent = `${chosen.length} of ${all.length} queries. Open one to see its targets and hits.`;
    drawn = 0;
    drawTable();
  }

  // Where there is no room for all runs, the two that are compared have a column each.
  const columns = () => (RUNS <= (matchMedia("(max-width: 600px)").matches ? 2 : 8) ? data.runs.map((_, run) => run) : [...new Set([state.a, state.b])]);

  function drawTable() {
    const heads = columns().map((run) => make("th", { scope: "col", class: "n" }, make("bdi", {}, data.runs[run])));
    if (RUNS > 1) heads.push(make("th", { scope: "col", class: "n" }, "change"));
    const head = make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Query"), ...heads));
    table.replaceChildren(make("caption", {}, `${data.measures[0]} of each query` + (RUNS > 1 ? `; change of ${data.runs[state.b]} against ${data.runs[state.a]}` : "")), head, make("tbody"));
    drawMore();
  }

  function drawMore() {
    const rows = chosen.slice(drawn, drawn + CHUNK).map(row);
    drawn += rows.length;
    table.tBodies[0].append(...rows);
    // Watched anew, so that more follow where the end is still in sight.
    watch.unobserve(end);
    watch.observe(end);
  }

  function row(query) {
    const button = make("button", { type: "button", class: "open", "aria-expanded": "false", on: { click: () => toggle(query, button) } },
      make("span", { class: "id" }, data.ids[query]), make("bdi", { class: "q" }, brief(data.texts[query].replaceAll("\n", " "))));
    const cells = columns().map((run) => {
      const value = score(run, query);
      const status = STATUS[data.statuses[run][query]];
      return make("td", { class: "cell " + shade(value), title: status ?? false }, shown(value));
    });
    if (RUNS > 1) {
      const value = gain(query);
      cells.push(make("td", { class: "n " + (value > 0 ? "up" : value < 0 ? "down" : "") }, signed(change(score(state.a, query), score(state.b, query)))));
    }
    return make("tr", { "data-query": query }, make("th", { scope: "row" }, button), ...cells);
  }

  function toggle(query, button) {
    const here = button.closest("tr");
    const expanded = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!expanded));
    if (expanded) { here.nextElementSibling.remove(); return; }
    const cell = make("td", { colspan: here.cells.length }, make("div", { class: "inside" }, ...detail(query)));
    here.after(make("tr", { class: "detail" }, cell));
    history.replaceState(null, "", "#query=" + encodeURIComponent(data.ids[query]));
  }

  // Show a query, drawing the rows down to it where they are not drawn yet.
  function open(query) {
    if (!chosen.includes(query)) { Object.assign(state, { words: "", show: "all", tag: "" }); drawControls(); choose(); }
    while (drawn < chosen.length && chosen.indexOf(query) >= drawn) drawMore();
    const button = table.querySelector(`tr[data-query="${query}"] .open`);
    if (button.getAttribute("aria-expanded") === "false") toggle(query, button);
    button.scrollIntoView({ block: "start" });
    button.focus({ preventScroll: true });
  }

  // ---- one query ----
  function detail(query) {
    const tags = Object.entries(data.tags).filter(([, values]) => values[query]).map(([tag, values]) => make("span", {}, `${tag}: ${values[query]}`));
    const pair = [...new Set([state.a, state.b])];
    const text = data.texts[query];
    const parts = text.length > SHORT || text.includes("\n") ? [make("p", { class: "text", dir: "auto" }, text)] : [];
    if (tags.length) parts.push(make("p", { class: "chips" }, ...tags));
    parts.push(make("h4", {}, "Targets"), targets(query), make("h4", {}, "Hits"));
    parts.push(make("div", { class: "pair" }, ...pair.map((run, number) => hits(query, run, pair[1 - number], number))));
    if (data.measures.length > 1) parts.push(make("h4", {}, "Scores"), numbers(query, pair));
    return parts;
  }

  function fate(run, query, target) {
    const rank = data.found[run][query][target];
    const status = data.statuses[run][query];
    if (rank > 0 && rank <= data.k) return make("span", { class: "found" }, `rank ${rank}`);
    if ("123".includes(status)) return make("span", { class: "missed" }, STATUS[status]);
    const lost = data.fates ? data.fates[run][query][target] : "";
    const hits = data.retrieved[run][query];
    const where = rank > 0 ? `rank ${rank}, below ${data.k}` : `not in ${hits} hit${hits === 1 ? "" : "s"}`;
    return make("span", { class: "missed" }, where, EXPLAINED.includes(lost) && lost ? `: ${data.reasons[lost]}` : "");
  }

  function targets(query) {
    const runs = columns();
    const heads = ["target", "grade", ...runs.map((run) => data.runs[run])];
    if (runs.length < RUNS) heads.push("all runs");
    const rows = data.targets[query].map((target, number) => {
      const cells = runs.map((run) => make("td", {}, fate(run, query, number)));
      if (runs.length < RUNS) {
        const found = data.runs.filter((_, run) => inTime(run, query, number)).length;
        cells.push(make("td", {}, `found by ${found} of ${RUNS}`));
      }
      return make("tr", {}, make("th", { scope: "row" }, make("bdi", {}, target[0])), make("td", { class: "n" }, String(target[1])), ...cells);
    });
    return make("div", { class: "scroll" }, make("table", {},
      make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, make("bdi", {}, head))))), make("tbody", {}, ...rows)));
  }

  // Return the places of a run's hits, best first: their text, and what is the same in another run.
  function placesOf(run, query) {
    const flat = data.hits[run][query];
    const step = data.lines ? 3 : 1;
    const found = [];
    for (let at = 0; at < flat.length; at += step) {
      const lines = data.lines && flat[at + 2] ? `:${flat[at + 1]}-${flat[at + 2]}` : "";
      const name = data.places[flat[at]] + lines;
      found.push({ name, same: data.files ? data.files[flat[at]] : name });
    }
    return found;
  }

  function hits(query, run, against, number) {
    const elsewhere = against === undefined ? null : placesOf(against, query).map((place) => place.same);
    const all = elsewhere !== null && data.retrieved[against][query] <= elsewhere.length;
    const items = placesOf(run, query).map(({ name, same }, at) => {
      const matched = data.matched[run][query][at] !== ".";
      const move = elsewhere === null ? "" : moved(at, elsewhere.indexOf(same), number, all ? "" : `not in first ${elsewhere.length}`);
      return make("li", { class: matched ? "hit" : false },
        make("span", { class: "rank" }, String(at + 1)),
        make("span", { class: "place" }, make("bdi", {}, name), matched ? " ✓" : ""),
        make("span", { class: "move" }, move));
    });
    const rest = data.retrieved[run][query] - items.length;
    const list = items.length ? make("ol", { class: "hits" }, ...items) : make("p", { class: "missed" }, STATUS[data.statuses[run][query]] ?? "no hits");
    return make("div", {}, make("h4", {}, make("bdi", {}, data.runs[run])), list, rest > 0 ? make("small", {}, `and ${rest} more`) : "");
  }

  // Say where a hit stands in the other run; the second list tells the way from the first to it. Where
  // the other run has more hits than are shown, a hit that is not among these is only *absent* there.
  function moved(at, there, number, absent) {
    if (there < 0) return absent || (number ? "new" : "gone");
    const steps = number ? there - at : 0;
    if (!number || steps === 0) return there === at ? "=" : `→ ${there + 1}`;
    return steps > 0 ? `↑ ${steps}` : `↓ ${-steps}`;
  }

  function numbers(query, pair) {
    const rows = data.measures.map((measure, number) => {
      const values = pair.map((run) => score(run, query, number));
      const cells = values.map((value) => make("td", { class: "n" }, shown(value)));
      if (pair.length > 1) cells.push(make("td", { class: "n" }, signed(change(values[0], values[1]))));
      return make("tr", {}, make("th", { scope: "row" }, measure), ...cells);
    });
    const heads = [...pair.map((run) => data.runs[run]), ...(pair.length > 1 ? ["change"] : [])];
    return make("div", { class: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, make("td"), ...heads.map((head) => make("th", { scope: "col", class: "n" }, make("bdi", {}, head))))), make("tbody", {}, ...rows)));
  }

  // ---- controls ----
  function select(name, title, options) {
    const list = make("select", { on: { change: (event) => { state[name] = isNaN(event.target.value) || event.target.value === "" ? event.target.value : Number(event.target.value); choose(); } } },
      ...options.map(([value, text]) => make("option", { value, selected: String(state[name]) === String(value) }, text)));
    return make("label", {}, title, list);
  }

  function drawControls() {
    const form = document.getElementById("controls");
    form.addEventListener("submit", (event) => event.preventDefault());
    const find = make("input", { type: "search", placeholder: "words or a path", value: state.words, on: { input: (event) => { state.words = event.target.value; choose(); } } });
    const runs = data.runs.map((name, run) => [run, name]);
    const named = (table) => Object.entries(table).map(([key, [title]]) => [key, title]);
    const tags = Object.entries(data.tags).flatMap(([tag, values]) => {
      const kinds = [...new Set(values)].filter(Boolean);
      return kinds.length > 1 && kinds.length <= 40 ? kinds.map((value) => [JSON.stringify([tag, value]), `${tag}: ${value}`]) : [];
    });
    const parts = [make("label", {}, "Find", find), select("show", "Show", named(SHOW)), select("sort", "Sort", named(SORT))];
    if (tags.length) parts.push(select("tag", "Tag", [["", "any"], ...tags]));
    if (RUNS > 1) parts.push(select("a", "First run", runs), select("b", "Second run", runs));
    form.replaceChildren(...parts);
  }

  table.parentElement.after(end);
  drawControls();
  choose();

  const wanted = location.hash.match(/^#query=(.*)$/);
  if (wanted) {
    const query = data.ids.indexOf(decodeURIComponent(wanted[1]));
    if (query >= 0) open(query);
  }
})();
