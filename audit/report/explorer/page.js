// The page itself: what is chosen, what is shown, and the address that remembers it.
"use strict";

// What the page carries: walks in the unit of the run and in the unit that is shown, tables, and what
// is unfit by archive.
let run = null, data = null, tables = [], tableUnit = null, story = null, quality = {};
// What is chosen now, and what the page opens with; the latter by unit.
let state = null, first = null;
const openings = new Map();
const views = new Map(), curves = new Map(), bands = new Map();
// Positions of walks, ten bytes each, that are kept at a time.
const MOST_HELD = 2e7;
let stepsHeld = 0;
// With more archives than this one finds them by name, and with more than that there is no "all".
const MANY_CHIPS = 12, MOST_CURVES = 100;
// Milliseconds after which the page looks up from a long table.
const SLICE = 40;

// What is computed once for each choice and kept.

function key(archive, choice = state) {
  return [data.unit.name, archive, choice.selector, choice.cap, choice.competition, choice.labels].join("/");
}
function viewOf(archive, choice = state) {
  let view = views.get(key(archive, choice));
  if (!view) {
    if (stepsHeld > MOST_HELD) { views.clear(); curves.clear(); bands.clear(); stepsHeld = 0; }
    view = A.walks(data, archive, choice);
    stepsHeld += view.cost.length;
    views.set(key(archive, choice), view);
  }
  return view;
}
function curveOf(archive) {
  let curve = curves.get(key(archive));
  if (!curve) {
    const view = viewOf(archive);
    curve = A.curve(view, A.curveBudgets(view, Math.max(2, data.curve_points), data.budgets));
    curves.set(key(archive), curve);
  }
  return curve;
}

// Work that waits until nothing more urgent comes.
const waiting = {};
function later(name, work, delay) {
  clearTimeout(waiting[name]);
  waiting[name] = setTimeout(work, delay);
}

// Tables, from what the command line would print and export.

function showTables() {
  const list = byId("table-list");
  tables.forEach((table) => {
    const inside = element("div"), notes = table.notes.map((text) => element("p", { class: "note", text }));
    const details = element("details", { id: "details-" + table.name, "data-table": table.name }, [
      element("summary", {}, [element("code", { text: table.name }), " " + table.purpose + " ",
        element("span", { class: "note", text: !table.columns.length ? "(not on this page)"
          : "(" + A.grouped(table.rows) + (table.rows === 1 ? " row)" : " rows)") })]),
      inside].concat(notes));
    details.addEventListener("toggle", () => {
      if (details.open && !inside.firstChild && table.rows) {
        dataTable(inside, { name: table.name, columns: table.columns, rows: table.rows, csv: () => tableCsv(table), ...opensReplay(table) });
      }
    });
    list.append(details);
  });
  byId("tables").hidden = false;
}

// A row of a table that names a replay shows it.
function opensReplay(table) {
  if (table.name !== "selection_events" || !data) { return {}; }
  return {
    pickName: (row) => `show replay ${row + 1}`, chosen: () => false,
    pick: (row) => {
      const record = table.records[row], { archive, competition } = record;
      const selector = data.selectors.findIndex(({ name }) => name === record.selector);
      const problem = data.problem_question.findIndex((question, i) => question === record.question_id
        && data.competitions[data.problem_competition[i]] === competition);
      const seed = record.advisory_seed ?? record.strict_seed;
      showReplay(data.archives.indexOf(archive), { budget: wholeCost(record.budget), selector, cap: first.cap, competition: null,
        problem, order: record.repeat }, seed);
    },
  };
}

// One replay of an archive, its timeline in view; the attempt with this seed is opened, if one is named.
function showReplay(archive, choice, seed) {
  if (archive < 0 || choice.problem < 0) { return; }
  // Its budget is one of the run.
  useUnit(run.unit.name);
  Object.assign(state, { shown: [archive], focus: archive }, choice);
  if (state.order > data.orders) { state.order = 1; }
  change();
  showTimeline();
  byId("replay").scrollIntoView();
  if (seed !== undefined && seed !== null) { openAttempt(String(seed)); }
}

// What a finding leads to: a replay of its archive at its budget at which the rules part.
function findingLinks(finding) {
  const archive = data ? data.archives.indexOf(finding.archive) : -1;
  if (archive < 0 || finding.budget === null) { return []; }
  return [" ", element("button", { type: "button", class: "link", text: "show a replay behind it", onclick: () => {
    const selector = data.selectors.findIndex(({ name }) => name === finding.selector);
    showReplay(archive, { budget: finding.budget, selector: selector < 0 ? data.primary_selector : selector, cap: first.cap,
      competition: null, problem: null, order: null });
    const picked = shownReplay && (shownReplay.advisory.picked || shownReplay.strict.picked);
    if (picked) { openAttempt(picked.seed); }
  } })];
}

function showFindings(findings) {
  if (!findings.length) { return; }
  byId("findings").hidden = false;
  const cells = (name) => findings.map((finding) => finding[name]);
  dataTable(byId("findings-table"), {
    name: "findings", id: "findings-list", rows: findings.length, most: 60,
    columns: [
      { name: "question", label: "question", cells: cells("question") },
      { name: "archive", label: "archive", cells: cells("archive") },
      { name: "finding", label: "finding", cells: cells("short"), prose: cells("sentence"), source: cells("source"),
        links: (row) => findingLinks(findings[row]) },
    ],
  });
}

// The address.

function writeHash() {
  const words = new URLSearchParams();
  words.set("B", state.budget / data.unit.scale);
  if (data !== run) { words.set("unit", data.unit.name); }
  words.set("focus", data.archives[state.focus]);
  state.shown.forEach((archive) => { words.append("archive", data.archives[archive]); });
  if (state.selector !== data.primary_selector) { words.set("selector", data.selectors[state.selector].name); }
  if (state.cap !== data.primary_cap) { words.set("cap", state.cap); }
  if (state.competition !== null) { words.set("competition", data.competitions[state.competition]); }
  if (state.labels !== first.labels) { words.set("labels", state.labels); }
  if (state.rules.length !== first.rules.length) { words.set("rules", state.rules.join(",")); }
  if (state.axis !== "budget") { words.set("axis", state.axis); }
  if (state.problem !== null) {
    words.set("problem", data.competitions[data.problem_competition[state.problem]] + "/" + data.problem_question[state.problem]);
    words.set("order", state.order);
  }
  const hash = "#" + words.toString();
  // A file has no history of its own to write to in some browsers.
  try { history.replaceState(null, "", hash); } catch (error) { location.hash = hash; }
}

function readHash() {
  const words = new URLSearchParams(location.hash.slice(1));
  useUnit(words.get("unit") || run.unit.name);
  const choice = { ...first };
  function wholeNumber(name, low, high, other) {
    const value = Number(words.get(name));
    return words.has(name) && Number.isInteger(value) && value >= low && value <= high ? value : other;
  }
  const budget = Math.round(Number(words.get("B")) * data.unit.scale);
  if (budget >= 1 && budget <= 1e15) { choice.budget = budget; }
  choice.cap = wholeNumber("cap", 1, data.largest_cap, first.cap);
  const shown = words.getAll("archive").map((name) => data.archives.indexOf(name))
    .filter((archive) => archive >= 0);
  if (shown.length) { choice.shown = Array.from(new Set(shown)); choice.focus = choice.shown[0]; }
  const focus = data.archives.indexOf(words.get("focus"));
  if (focus >= 0 && choice.shown.indexOf(focus) >= 0) { choice.focus = focus; }
  const selector = data.selectors.findIndex(({ name }) => name === words.get("selector"));
  if (data.archives.some((_, archive) => selector >= 0 && A.isUsable(data, selector, archive))) { choice.selector = selector; }
  const competition = data.competitions.indexOf(words.get("competition"));
  if (competition >= 0) { choice.competition = competition; }
  if (words.get("labels") === "repaired" && data.repaired) { choice.labels = "repaired"; }
  const rules = (words.get("rules") || "").split(",");
  choice.rules = first.rules.filter((rule) => rules.includes(rule) || !words.has("rules"));
  if (!choice.rules.length) { choice.rules = first.rules; }
  if (words.get("axis") === "cost") { choice.axis = "cost"; }
  const problem = data.problem_question.findIndex((question, i) => data.competitions[data.problem_competition[i]] + "/" + question === words.get("problem"));
  if (problem >= 0) { choice.problem = problem; choice.order = wholeNumber("order", 0, data.orders, 1); }
  return choice;
}

// Controls.

function options(select, texts, values) {
  select.replaceChildren(
    ...texts.map((text, i) => element("option", { value: String(values ? values[i] : i), text }))
  );
}

function sliderToBudget(value) {
  const low = state.bounds.x[0], high = state.bounds.x[1];
  return A.rounding(data.unit, low * (high / low) ** (value / 2000));
}
function budgetToSlider(budget) {
  const low = state.bounds.x[0], high = state.bounds.x[1];
  return Math.round(2000 * Math.log(Math.max(low, Math.min(high, budget)) / low) / Math.log(high / low));
}

function setBudget(budget, by) {
  state.budget = Math.max(1, Math.min(1e15, Math.round(budget)));
  if (by !== "slider") { byId("slider").value = String(budgetToSlider(state.budget)); }
  if (by !== "field") { byId("budget").value = String(state.budget / data.unit.scale); }
  byId("slider").setAttribute("aria-valuetext", amount(state.budget));
  show();
}

function change() {
  unitWords();
  byId("selector").value = String(state.selector);
  byId("cap").value = String(state.cap);
  byId("competition").value = state.competition === null ? "" : String(state.competition);
  byId("labels").value = state.labels;
  byId("rules").querySelectorAll("input").forEach((input) => { input.checked = state.rules.includes(input.value); });
  document.querySelectorAll("input[name=axis]").forEach((input) => { input.checked = input.value === state.axis; });
  byId("archives").querySelectorAll(".chip").forEach((chip, archive) => {
    const shown = state.shown.indexOf(archive) >= 0;
    chip.setAttribute("aria-pressed", String(shown));
    chip.classList.toggle("focus", archive === state.focus);
    chip.style.setProperty("--colour", state.shown.length === 1 ? "var(--ink)" : colourOf(archive));
  });
  byId("explorer").classList.toggle("several", state.shown.length > 1);
  byId("explorer").style.setProperty("--focus", colourOf(state.focus));
  drawCurve();
  setBudget(state.budget);
  showPolicies();
  showAtK();
}

function toggle(archive) {
  const at = state.shown.indexOf(archive);
  if (at < 0) { state.shown = state.shown.concat([archive]); state.focus = archive; }
  else if (state.focus !== archive) { state.focus = archive; }
  else if (state.shown.length > 1) {
    state.shown = state.shown.filter((other) => other !== archive);
    state.focus = state.shown[state.shown.length - 1];
  }
  change();
}

function findArchives(text) {
  byId("archives").querySelectorAll(".chip").forEach((chip) => { chip.hidden = !chip.title.toLowerCase().includes(text.toLowerCase()); });
}

function archiveChips() {
  const place = byId("archives");
  if (data.archives.length > MANY_CHIPS) {
    place.classList.add("many");
    place.append(element("input", { type: "search", id: "find-archive", placeholder: "find an archive",
      "aria-label": "find an archive", oninput: (event) => { findArchives(event.target.value); } }));
  }
  data.archives.forEach((name, archive) => {
    place.append(element("button", { type: "button", class: "chip", "aria-pressed": "false",
      title: name, text: pictures.fitted(name, 260), onclick: () => { toggle(archive); } }));
  });
  if (data.archives.length > 2 && data.archives.length <= MOST_CURVES) {
    place.append(element("button", { type: "button", id: "all-archives", text: "all", class: "all",
      onclick: () => { state.shown = data.archives.map((_, i) => i); change(); } }));
  }
}

// A box for every rule of a run that has more than two; one of them always stays.
function rulePicker() {
  const place = byId("rules");
  place.hidden = Object.keys(data.rule).length < 3;
  place.append(...Object.keys(data.rule).map((rule) => element("label", { class: rule, title: data.rule[rule].sentence }, [
    element("input", { type: "checkbox", value: rule, onchange: () => {
      const chosen = Array.from(place.querySelectorAll("input:checked"), (input) => input.value);
      if (chosen.length) { state.rules = chosen; }
      change();
    } }), ` ${rule}`])));
}

// The units that the page can count in: the run's, and money where the run has prices.
const counted = new Map();

// Count in a unit from now on; one that the page does not know leaves it as it is.
function useUnit(name) {
  data = counted.get(name) || data;
  if (!openings.has(data)) { openings.set(data, opening()); }
  first = openings.get(data);
}

function averageCost(records, archive) {
  const from = records.attempt_start[records.archive_start[archive]], to = records.attempt_start[records.archive_start[archive + 1]];
  return records.cost.subarray(from, to).reduce((total, cost) => total + cost, 0) / (to - from);
}

// Count in another unit; the budget buys as much of the average attempt in focus as before.
function changeUnit(name) {
  const share = state.budget / averageCost(data, state.focus);
  useUnit(name);
  state.budget = A.rounding(data.unit, share * averageCost(data, state.focus));
  change();
}

function unitPicker() {
  const place = byId("units");
  place.hidden = counted.size < 2;
  place.append(...Array.from(counted.keys(), (name) => element("label", {}, [
    element("input", { type: "radio", name: "unit", value: name, onchange: () => changeUnit(name) }),
    ` in ${name === "money" ? "dollars" : pictures.SHORT[name]}`])));
}

// What the field, the slider and the tables of the run say of the unit.
function unitWords() {
  const { name, scale } = data.unit;
  byId("units").querySelectorAll("input").forEach((input) => { input.checked = input.value === name; });
  document.querySelectorAll(".run-unit").forEach((place) => {
    place.textContent = data === run ? ""
      : `From the tables of the run, which count ${pictures.TITLES[run.unit.name]}: budget-audit replay --unit ${name} makes them in ${name}.`;
  });
  byId("budget-before").textContent = name === "money" ? "$" : "";
  byId("budget-after").textContent = { money: "", seconds: "seconds", steps: "steps" }[name] ?? "tokens";
  Object.assign(byId("budget"), scale === 1 ? { step: "1", min: "1", inputMode: "numeric" }
    : { step: "any", min: String(1 / scale), inputMode: "decimal" });
  byId("slider").labels[0].textContent = `budget B, ${pictures.TITLES[name]}`;
  byId("keys").textContent = `Drag the line, or use the arrow keys: Shift moves by ${
    scale === 1 ? `single ${name === "steps" ? "steps" : "tokens"}` : "small steps"
  }, Page up and Page down go to ${data === run ? "the budgets of the run" : data.budgets.map(budgetName).join(", ")}.`;
}

function fineStep() { return data.unit.scale === 1 ? 1 : 10 ** Math.max(0, Math.floor(Math.log10(state.budget)) - 2); }

function controls() {
  archiveChips();
  rulePicker();
  unitPicker();
  byId("competition").parentElement.hidden = data.competitions.length < 2;
  byId("labels").parentElement.hidden = !data.repaired;
  byId("labels").addEventListener("change", (event) => { state.labels = event.target.value; change(); });
  options(byId("selector"), data.selectors.map((selector) => selector.name));
  // A selector that can pick nothing anywhere is shown, and cannot be chosen.
  Array.from(byId("selector").options).forEach((option, selector) => {
    option.disabled = !data.archives.some((_, archive) => A.isUsable(data, selector, archive));
  });
  options(byId("competition"), ["all", ...data.competitions], ["", ...data.competitions.keys()]);
  options(byId("replay-archive"), data.archives);
  options(byId("order"), Array.from({ length: data.orders + 1 }, (_, repeat) => (repeat === 0 ? "as recorded" : `random ${repeat}`)));
  byId("cap").max = String(data.largest_cap);
  byId("slider").addEventListener("input", (event) => {
    setBudget(sliderToBudget(Number(event.target.value)), "slider");
  });
  byId("slider").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key] || 0, budgets = data.budgets;
    if (event.key === "PageUp") { event.preventDefault(); setBudget(budgets.find((b) => b > state.budget) || state.budget); }
    else if (event.key === "PageDown") {
      event.preventDefault();
      setBudget(budgets.filter((b) => b < state.budget).pop() || state.budget);
    } else if (step) {
      event.preventDefault();
      setBudget(state.budget + step * (event.shiftKey ? fineStep() : Math.max(fineStep(), Math.round(state.budget * 0.01))));
    }
  });
  byId("budget").addEventListener("input", (event) => {
    const value = Number(event.target.value) * data.unit.scale, whole = Math.round(value);
    // Finer than the unit counts is no budget; a product of decimals may miss a whole number by a hair.
    if (whole >= 1 && Math.abs(value - whole) < 1e-6) { setBudget(whole, "field"); }
  });
  byId("budget").addEventListener("change", (event) => { event.target.value = String(state.budget / data.unit.scale); });
  byId("selector").addEventListener("change", (event) => { state.selector = Number(event.target.value); change(); });
  byId("cap").addEventListener("change", (event) => {
    const cap = Math.round(Number(event.target.value));
    state.cap = cap >= 1 ? Math.min(cap, data.largest_cap) : state.cap;
    change();
  });
  byId("competition").addEventListener("change", (event) => {
    state.competition = event.target.value === "" ? null : Number(event.target.value);
    change();
  });
  document.querySelectorAll("input[name=axis]").forEach((input) => {
    input.addEventListener("change", () => { state.axis = input.value; change(); });
  });
  byId("download-curve").addEventListener("click", () => { download("curve.csv", curveCsv()); });
  byId("reset").addEventListener("click", reset);
  byId("replay-archive").addEventListener("change", (event) => {
    const archive = Number(event.target.value);
    if (state.shown.indexOf(archive) < 0) { state.shown = state.shown.length === 1 ? [archive] : state.shown.concat([archive]); }
    state.focus = archive;
    change();
  });
  function turn(by) {
    state.order = Math.max(0, Math.min(data.orders, state.order + by));
    showTimeline();
    later("hash", writeHash, 50);
  }
  byId("order").addEventListener("change", (event) => { state.order = Number(event.target.value); turn(0); });
  byId("order-before").addEventListener("click", () => { turn(-1); });
  byId("order-after").addEventListener("click", () => { turn(1); });
  drag(byId("curve"));
  window.addEventListener("resize", () => { later("resize", change, 100); });
  window.addEventListener("hashchange", () => {
    if (/[#&]B=/.test(location.hash)) { state = { bounds: state.bounds, ...readHash() }; change(); }
  });
  window.addEventListener("beforeprint", () => { clearTimeout(waiting.below); showBelow(true); });
}

// Dragging in the picture moves the budget, over either axis.
function drag(place) {
  let isDragged = false;
  function move(event) {
    const svg = place.querySelector("svg"), box = svg.getBoundingClientRect();
    let value = picture.valueAt((event.clientX - box.left) * (svg.viewBox.baseVal.width / box.width));
    if (state.axis === "cost") {
      // Over realized cost the line is advisory's cost: the budget that comes nearest to it.
      const curve = curveOf(state.focus);
      let best = 0;
      curve.advisory_cost.forEach((cost, i) => {
        if (Math.abs(cost - value) < Math.abs(curve.advisory_cost[best] - value)) { best = i; }
      });
      value = curve.budgets[best];
    }
    setBudget(A.rounding(data.unit, value));
  }
  place.addEventListener("pointerdown", (event) => { isDragged = true; place.setPointerCapture(event.pointerId); move(event); });
  place.addEventListener("pointermove", (event) => { if (isDragged) { move(event); } });
  ["pointerup", "pointercancel"].forEach((name) => {
    place.addEventListener(name, () => { isDragged = false; });
  });
}

// What the page opens with: the archive and the budget of the story, which the page carries. In another
// unit than the run's it is the budget that buys as much.
function opening() {
  const archive = Math.max(0, story ? data.archives.indexOf(story.archive) : 0);
  const counted = story ? wholeCost(story.budget) : run.budgets[0];
  const budget = data === run ? counted : A.rounding(data.unit, (counted / averageCost(run, archive)) * averageCost(data, archive));
  return { budget, shown: [archive], focus: archive, selector: data.primary_selector, labels: "recorded", rules: Object.keys(data.rule),
    cap: Math.min(data.primary_cap, data.largest_cap), competition: null, axis: "budget", problem: null, order: null };
}

// Everything as the page was opened: unit, choice, filters and sorted tables.
function reset() {
  useUnit(run.unit.name);
  state = { bounds: state.bounds, ...first };
  closeAttempt();
  if (byId("find-archive")) { findArchives(byId("find-archive").value = ""); }
  summary = problems = null;
  change();
}

function start() {
  [run, A.inMoney(run)].filter(Boolean).forEach((records) => counted.set(records.unit.name, records));
  state = readHash();
  ["explorer", "summary", "replay"].forEach((id) => { byId(id).hidden = false; });
  byId("still").hidden = true;
  // One archive alone is no comparison: its curve takes the room.
  if (data.archives.length < 2) { byId("points-figure").remove(); byId("explorer").classList.add("alone"); }
  byId("why").after(byId("limits"));
  controls();
  change();
  showBelow();
}

// Reading what the page carries.

function unpacked(id) { return unpackedText(byId(id).textContent.trim()); }

async function unpackedText(text) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) { bytes[i] = raw.charCodeAt(i); }
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return await new Response(stream).arrayBuffer();
}

function trouble(text) {
  byId("trouble-text").textContent = text;
  byId("trouble").hidden = false;
  document.documentElement.dataset.state = "broken";
}

async function main() {
  if (typeof DecompressionStream === "undefined") {
    trouble("This browser is too old for it: Chromium 80, Firefox 113 or Safari 16.4 can show it.");
    return;
  }
  try {
    const packed = JSON.parse(new TextDecoder().decode(await unpacked("page-tables")));
    tables = packed.tables.map(readTable);
    tableUnit = packed.unit;
    story = packed.opening;
    quality = packed.quality;
    if (byId("walks")) { run = A.index(A.unpack(await unpacked("walks"))); data = run; }
    if (data) { start(); }
    showTables();
    offerCard();
    showFindings(packed.findings);
    document.documentElement.dataset.state = "ready";
  } catch (error) {
    trouble("The file is damaged (" + String(error && error.message ? error.message : error)
      + "). Write it again with: budget-audit report");
  }
}

main();
