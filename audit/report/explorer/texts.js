// What attempts wrote: scripts beside the page hold the texts, and every one is data, never markup.
"use strict";

// Packed texts by file, as the scripts beside the page hand them over.
const arrived = new Map(), read = new Map();
function auditTexts(file, packed) { arrived.set(file, packed); }

// A script is loaded once; from file:// nothing else can be read.
function fileOf(number) {
  if (!read.has(number)) {
    read.set(number, new Promise((resolve, reject) => {
      const script = element("script", { src: `texts/${number}.js` });
      script.onload = () => resolve(unpackedText(arrived.get(number)).then((text) => JSON.parse(new TextDecoder().decode(text))));
      script.onerror = () => reject(new Error(`texts/${number}.js is not beside this page`));
      document.head.append(script);
    }));
  }
  return read.get(number);
}

async function textOf(bank, slot) {
  const file = data.bank_text[bank];
  return file ? (await fileOf(file - 1))[bank][slot] : null;
}

// What a click on an attempt does, where there is something to read.
function opener(attempt) {
  return data.texts ? () => openAttempt(attempt.seed) : undefined;
}

// The attempt that is being read, as bank and seed; null where none is.
let opened = null;

function closeAttempt() { opened = null; byId("transcript").hidden = true; }

// The timeline was drawn anew: the cut moves in the text that is open; one of another bank is closed.
function followAttempt() {
  if (!opened) { return; }
  if (shownReplay.bank === opened.bank) { openAttempt(opened.seed); } else { closeAttempt(); }
}

// Where the last box of a text begins and ends; null without a complete one.
function lastBox(text) {
  for (let from = text.lastIndexOf("\\boxed{"); from >= 0; from = from ? text.lastIndexOf("\\boxed{", from - 1) : -1) {
    let depth = 0;
    for (let at = from + 6; at < text.length; at++) {
      if (text[at] === "\\") { at++; continue; }
      if (text[at] === "{") { depth++; }
      if (text[at] === "}" && --depth === 0) { return { from, to: at + 1, kind: "box" }; }
    }
  }
  return null;
}

// What is marked in a text: its last box, else the last place where the answer stands by itself.
function highlights(text, answer) {
  const box = lastBox(text);
  if (box || !answer) { return box ? [box] : []; }
  const from = text.lastIndexOf(answer);
  return from < 0 ? [] : [{ from, to: from + answer.length, kind: "answer" }];
}

// The character at which strict stopping cuts: exact where a tokenizer has counted this prefix, else
// between the counts that are known, or by its share of the cost.
function cutAt(attempt, text, counted) {
  const spent = state.budget - attempt.start;
  if (spent <= 0 || spent >= attempt.cost) { return null; }
  const counts = [[0, 0], ...(counted || []), [attempt.cost, text.length]];
  const after = counts.findIndex(([tokens]) => tokens >= spent);
  const [tokens, characters] = counts[after], [before, begin] = counts[after - 1];
  if (tokens === spent) { return { at: characters, isExact: true }; }
  return { at: Math.round(begin + ((characters - begin) * (spent - before)) / (tokens - before)), isExact: false };
}

// The text with its marks, as nodes.
function markedText(text, marks, cut) {
  const body = element("pre", { class: "text" }), ends = new Set([0, text.length, ...marks.flatMap(({ from, to }) => [from, to])]);
  if (cut) { ends.add(cut.at); }
  const places = Array.from(ends).sort((a, b) => a - b);
  places.forEach((from, i) => {
    if (cut && from === cut.at) {
      body.append(element("span", { class: "cut-here", id: "cut-here", text: `▲ strict stops here (B = ${budgetName(state.budget)}${
        cut.isExact ? "" : ", approximate"}); what follows is never seen` }));
    }
    if (i + 1 === places.length) { return; }
    const piece = text.slice(from, places[i + 1]), mark = marks.find((other) => other.from <= from && places[i + 1] <= other.to);
    const isCut = cut && from >= cut.at;
    body.append(element(mark ? "mark" : "span", { class: `${mark ? mark.kind : ""}${isCut ? " after" : ""}`.trim(), text: piece }));
  });
  return body;
}

function cutWords(attempt, cut) {
  if (attempt.start >= state.budget) { return "No rule launches it at this budget."; }
  if (!cut) { return data.unit.name === "completion" ? "Strict returns it whole." : ""; }
  return cut.isExact ? "The cut is at its token, by the tokenizer." : "The cut is approximate: by the share of its tokens.";
}

// The attempt of the shown replay with this seed, in the panel below the timeline.
async function openAttempt(seed) {
  const isShown = (attempt) => attempt.seed === seed, place = byId("transcript"), { bank } = shownReplay;
  const attempt = shownReplay.attempts.find(isShown), note = (text) => element("p", { class: "note", text });
  if (!attempt) { closeAttempt(); return; }
  const isNew = !opened || opened.bank !== bank || opened.seed !== seed, here = { bank, seed };
  opened = here;
  const fill = (...parts) => {
    const close = element("button", { type: "button", text: "close", onclick: closeAttempt });
    place.replaceChildren(element("p", {}, [element("b", { text: attemptName(attempt) }), " ", close]), ...parts);
    place.hidden = false;
  };
  if (!data.texts) { fill(note("This page carries no texts: budget-audit report --texts writes them beside it.")); return; }
  if (isNew) { fill(note("The text is being read …")); }
  try {
    const entry = await textOf(bank, attempt.slot);
    if (opened !== here) { return; }
    if (entry === null || entry.text === null) { fill(note("No text was recorded.")); return; }
    const cut = data.unit.name === "completion" ? cutAt(attempt, entry.text, entry.cuts) : null;
    fill(note(`${A.grouped(entry.text.length)} characters. ${cutWords(attempt, cut)}`),
      markedText(entry.text, highlights(entry.text, attempt.answer), cut));
    const jump = byId("cut-here");
    if (jump) { jump.parentElement.scrollTop = jump.offsetTop - jump.parentElement.offsetTop - 120; }
  } catch (error) {
    fill(note(`The text cannot be shown: ${error.message}.`));
  }
}
