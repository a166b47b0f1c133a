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
  const name = data.names[problem];
  const shown = name === null ? "problem " + data.questions[problem] : name;
  return data.competitions.length === 1 ? shown
    : data.competitions[data.problem_competition[problem]] + " " + (name === null ? data.questions[problem] : name);
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
      onclick: () => { download(spec.name + ".csv", spec.csv); } }));
  }
  fill();
  const table = element("table", { id: spec.id || "table-" + spec.name }, [element("thead", {}, [head]), body]);
  parent.replaceChildren(tools, element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "table " + spec.name }, [table]));
  return { refill: (columns) => { spec.columns = columns || spec.columns; fill(); } };
}

function download(name, text) {
  const link = element("a", { download: name, href: URL.createObjectURL(new Blob([text], { type: "text/csv" })) });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => { URL.revokeObjectURL(link.href); }, 10000);
}

// What a table holds of a cost or a budget, in whole numbers of the run's unit.
function wholeCost(text) { return text === "" ? null : Math.round(Number(text) * run.unit.scale); }
function tableNamed(name) { return tables.find((table) => table.name === name && table.records.length); }

function parseCsv(text) {
  const rows = [];
  let row = [], cell = "", quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted) {
      if (c === "\"" && text[i + 1] === "\"") { cell += c; i++; }
      else if (c === "\"") { quoted = false; }
      else { cell += c; }
    } else if (c === "\"") { quoted = true; }
    else if (c === ",") { row.push(cell); cell = ""; }
    else if (c === "\n") { row.push(cell); rows.push(row); row = []; cell = ""; }
    else { cell += c; }
  }
  return rows;
}

function readTable(table) {
  const rows = parseCsv(table.csv), names = rows.shift();
  table.records = rows.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i]])));
  table.columns.forEach((column) => {
    const place = names.indexOf(column.name);
    column.keys = column.cells.map((cell, row) => {
      const value = place < 0 ? cell : rows[row][place];
      return column.numeric && value !== "" ? Number(value) : value;
    });
  });
  return table;
}

