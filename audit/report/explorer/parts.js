// What the parts of the page share: elements, numbers in words, tables that sort, downloads.
"use strict";

const A = arithmetic;
const byId = document.getElementById.bind(document);

function element(tag, attributes, children) {
  const made = document.createElement(tag);
  Object.keys(attributes || {}).forEach((name) => {
    if (name === "text") { made.textContent = attributes[name]; }
    else if (name.slice(0, 2) === "on") { made.addEventListener(name.slice(2), attributes[name]); }
    else { made.setAttribute(name, attributes[name]); }
  });
  (children || []).forEach((child) => {
    made.append(child);
  });
  return made;
}

function minus(text) { return text.replace(/-/g, "−"); }
function decimal(value, decimals) {
  if (value === null || value === undefined || Number.isNaN(value)) { return "—"; }
  return minus(A.grouped(A.rounded(value, decimals)));
}
function signed(value, decimals) {
  const text = decimal(value, decimals);
  return value > 0 && /[1-9]/.test(text) ? "+" + text : text;
}
function range(interval, decimals) {
  return interval ? "[" + decimal(interval.low, decimals) + ", " + decimal(interval.high, decimals) + "]" : "";
}
// Why an archive has no accuracy.
function noAccuracy(archive) {
  return A.isUsable(data, state.selector, archive) ? "this archive has no labels"
    : `${data.selectors[state.selector].name} can pick no attempt of this archive`;
}
function budgetName(budget) { return A.budgetName(data.unit, budget); }
function amount(cost) { return minus(A.amount(data.unit, cost)); }
function figure(cost) { return minus(A.figure(data.unit, cost)); }
function problemName(problem) {
  const name = A.wordAt(data, "problem_name", problem);
  const shown = name === null ? "problem " + data.problem_question[problem] : name;
  return data.competitions.length === 1 ? shown
    : data.competitions[data.problem_competition[problem]] + " " + (name === null ? data.problem_question[problem] : name);
}

// Whole tens around percentages.
function tens(values) {
  return [Math.max(0, Math.floor(Math.min(...values) / 10) * 10), Math.min(100, Math.ceil((Math.max(...values) + 1) / 10) * 10)];
}

// A table that sorts, filters, folds long lists and downloads.

// Columns: name, label, numeric, cells (texts), keys (what sorts; default: the cells), marks (a
// warning beside a cell), prose with its source and links.
function dataTable(parent, spec) {
  const most = spec.most || 200, body = element("tbody"), count = element("span"), head = element("tr");
  let order = spec.sort || null, filterText = "", all = false;
  const more = element("button", { type: "button", text: "show all", onclick: () => { all = true; fill(); } });
  const heads = spec.columns.map((column, place) => {
    const button = element("button", { type: "button", text: column.label, title: column.name,
      onclick: () => {
        const down = order && order.place === place ? !order.down : Boolean(column.numeric);
        order = { place, down };
        fill();
      } });
    const cell = element("th", { scope: "col" }, [button]);
    if (column.numeric) { cell.className = "number"; }
    head.append(cell);
    return cell;
  });
  function compare(a, b) {
    const keys = spec.columns[order.place].keys || spec.columns[order.place].cells;
    const x = keys[a], y = keys[b], empty = (x === null || x === "") - (y === null || y === "");
    if (empty) { return empty; }
    const sign = typeof x === "number" && typeof y === "number" ? x - y
      : x < y ? -1 : x > y ? 1 : 0;
    return (order.down ? -sign : sign) || a - b;
  }
  function rows() {
    const numbers = [];
    for (let row = 0; row < spec.rows; row++) {
      if (!filterText || spec.columns.some((column) => String(column.cells[row]).toLowerCase().includes(filterText))) { numbers.push(row); }
    }
    return order ? numbers.sort(compare) : numbers;
  }
  function cellOf(column, row) {
    const text = column.cells[row], cell = element("td");
    if (column.numeric) {
      cell.className = "number";
      const bracket = text.indexOf(" [");
      if (bracket > 0) {
        cell.append(minus(text.slice(0, bracket)) + " ",
          element("span", { class: "interval", text: minus(text.slice(bracket + 1)) }));
      } else { cell.textContent = minus(text); }
    } else if (column.prose) {
      cell.className = "prose";
      cell.append(element("details", {}, [element("summary", { text }),
        element("p", { text: column.prose[row] }),
        element("p", { class: "note" }, [column.source[row], ...column.links(row)])]));
    } else { cell.textContent = text; }
    if (column.marks && column.marks[row]) {
      cell.append(" ", element("span", { class: "mark", role: "img", title: column.marks[row],
        "aria-label": `not fit: ${column.marks[row]}`, text: "⚠" }));
    }
    return cell;
  }
  function fill() {
    const numbers = rows(), shown = all ? numbers : numbers.slice(0, most);
    heads.forEach((cell, place) => {
      if (order && order.place === place) {
        cell.setAttribute("aria-sort", order.down ? "descending" : "ascending");
      } else { cell.removeAttribute("aria-sort"); }
    });
    body.replaceChildren(...shown.map((row) => {
      const line = element("tr", {}, spec.columns.map((column) => cellOf(column, row)));
      if (spec.pick) {
        line.tabIndex = 0;
        line.setAttribute("aria-label", spec.pickName(row));
        if (spec.chosen(row)) { line.className = "chosen"; line.setAttribute("aria-current", "true"); }
        line.addEventListener("click", () => { spec.pick(row); });
        line.addEventListener("keydown", (event) => {
          if (event.key === "Enter" || event.key === " ") { event.preventDefault(); spec.pick(row); }
        });
      }
      return line;
    }));
    count.textContent = shown.length < numbers.length
      ? A.grouped(shown.length) + " of " + A.grouped(numbers.length) + " rows shown"
      : A.grouped(numbers.length) + (numbers.length === 1 ? " row" : " rows");
    more.hidden = shown.length >= numbers.length;
  }
  const tools = element("div", { class: "tools" });
  if (spec.filter !== false) {
    tools.append(element("label", {}, ["filter ", element("input", { type: "search", "aria-label": "filter " + spec.name,
      oninput: (event) => { filterText = event.target.value.toLowerCase(); fill(); } })]));
  }
  tools.append(count, more);
  if (spec.csv !== undefined) {
    tools.append(element("button", { type: "button", text: "download " + spec.name + ".csv",
      onclick: () => { download(spec.name + ".csv", spec.csv()); } }));
  }
  fill();
  const table = element("table", { id: spec.id || "table-" + spec.name }, [element("thead", {}, [head]), body]);
  parent.replaceChildren(tools, element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `table ${spec.id ? spec.id.replaceAll("-", " ") : spec.name}` }, [table]));
  return { refill: (columns) => { spec.columns = columns || spec.columns; fill(); } };
}

function download(name, text, type = "text/csv") {
  const link = element("a", { download: name, href: URL.createObjectURL(new Blob([text], { type })) });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => { URL.revokeObjectURL(link.href); }, 10000);
}

// What a table holds of a cost or a budget, in whole numbers of the run's unit.
function wholeCost(cost) { return cost === null ? null : Math.round(cost * run.unit.scale); }
function tableNamed(name) { return tables.find((table) => table.name === name && table.rows); }

// A table as the page carries it: values by column. Cells and records are made when they are needed.
function readTable(table) {
  const { values } = table, once = (make) => { let made; return () => (made ||= make()); };
  const records = once(() => Array.from({ length: table.rows }, (_, row) => Object.fromEntries(
    Object.entries(values).map(([name, column]) => [name, column[row]]))));
  Object.defineProperty(table, "records", { get: records });
  table.columns.forEach((column) => {
    column.keys = values[column.name];
    Object.defineProperty(column, "cells", { get: once(() => column.keys.map((value, row) => {
      const written = (each) => A.cell(tableUnit, column.format, each);
      const text = written(value), ends = ["low", "high"].map((end) => column.ranged && written(values[`${column.name}_${end}`][row]));
      return text && ends[0] && ends[1] ? `${text} [${ends.join(", ")}]` : text;
    })) });
  });
  return table;
}

// Every value of a table at full precision, as CSV.
function csvOf(names, rows) {
  const cell = (value) => (value === null || value === undefined || Number.isNaN(value) ? ""
    : typeof value === "string" && (value === "" || /[",\r\n]/.test(value)) ? `"${value.replaceAll("\"", "\"\"")}"` : String(value));
  return [names, ...rows].map((row) => `${row.map(cell).join(",")}\n`).join("");
}
function tableCsv(table) {
  const columns = Object.values(table.values);
  return csvOf(Object.keys(table.values), Array.from({ length: table.rows }, (_, row) => columns.map((column) => column[row])));
}
