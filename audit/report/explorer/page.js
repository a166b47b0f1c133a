// The page itself: what is chosen, what is shown, and the address that remembers it.
(function () {
  "use strict";

  var A = arithmetic, data = null, tables = [], state = null, first = null;
  var views = new Map(), curves = new Map(), bands = new Map(), picture = null;
  // Positions of walks, ten bytes each, that are kept at a time.
  var MOST_HELD = 2e7, held = 0;
  // With more archives than this one finds them by name, and with more than that there is no "all".
  var MANY_CHIPS = 12, MOST_CURVES = 100;
  // Milliseconds after which the page looks up from a long table.
  var SLICE = 40;
  var byId = document.getElementById.bind(document);

  // Small things to build with.

  function element(tag, attributes, children) {
    var made = document.createElement(tag);
    Object.keys(attributes || {}).forEach(function (name) {
      if (name === "text") { made.textContent = attributes[name]; }
      else if (name.slice(0, 2) === "on") { made.addEventListener(name.slice(2), attributes[name]); }
      else { made.setAttribute(name, attributes[name]); }
    });
    (children || []).forEach(function (child) {
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
    var text = decimal(value, decimals);
    return value > 0 && /[1-9]/.test(text) ? "+" + text : text;
  }
  function range(found, decimals) {
    return found ? "[" + decimal(found.low, decimals) + ", " + decimal(found.high, decimals) + "]" : "";
  }
  function budgetName(budget) {
    return budget >= 1000 && budget % 1000 === 0 ? A.grouped(budget / 1000) + "k" : A.grouped(budget);
  }
  function problemName(problem) {
    var name = data.names[problem];
    var shown = name === null ? "problem " + data.questions[problem] : name;
    return data.competitions.length === 1 ? shown
      : data.competitions[data.problem_competition[problem]] + " " + (name === null ? data.questions[problem] : name);
  }

  // A table that sorts, filters, folds long lists and downloads.

  // Columns: name, label, numeric, cells (texts), keys (what sorts; default: the cells).
  function dataTable(parent, spec) {
    var order = spec.sort || null, most = spec.most || 200, wanted = "", all = false;
    var body = element("tbody"), told = element("span"), head = element("tr");
    var heads = spec.columns.map(function (column, place) {
      var button = element("button", { type: "button", text: column.label, title: column.name,
        onclick: function () {
          var down = order && order.place === place ? !order.down : Boolean(column.numeric);
          order = { place: place, down: down };
          fill();
        } });
      var cell = element("th", { scope: "col" }, [button]);
      if (column.numeric) { cell.className = "number"; }
      head.append(cell);
      return cell;
    });
    function compare(a, b) {
      var keys = spec.columns[order.place].keys || spec.columns[order.place].cells;
      var x = keys[a], y = keys[b], empty = (x === null || x === "") - (y === null || y === "");
      if (empty) { return empty; }
      var found = typeof x === "number" && typeof y === "number" ? x - y
        : x < y ? -1 : x > y ? 1 : 0;
      return (order.down ? -found : found) || a - b;
    }
    function rows() {
      var found = [];
      for (var row = 0; row < spec.rows; row++) {
        if (!wanted || spec.columns.some(function (column) {
          return String(column.cells[row]).toLowerCase().includes(wanted);
        })) { found.push(row); }
      }
      return order ? found.sort(compare) : found;
    }
    function cellOf(column, row) {
      var text = column.cells[row], cell = element("td");
      if (column.numeric) {
        cell.className = "number";
        var bracket = text.indexOf(" [");
        if (bracket > 0) {
          cell.append(minus(text.slice(0, bracket)) + " ",
            element("span", { class: "interval", text: minus(text.slice(bracket + 1)) }));
        } else { cell.textContent = minus(text); }
      } else if (column.prose) {
        cell.className = "prose";
        cell.append(element("details", {}, [element("summary", { text: text }),
          element("p", { text: column.prose[row] }), element("p", { class: "note", text: column.source[row] })]));
      } else { cell.textContent = text; }
      return cell;
    }
    function fill() {
      var found = rows(), shown = all ? found : found.slice(0, most);
      heads.forEach(function (cell, place) {
        if (order && order.place === place) {
          cell.setAttribute("aria-sort", order.down ? "descending" : "ascending");
        } else { cell.removeAttribute("aria-sort"); }
      });
      body.replaceChildren.apply(body, shown.map(function (row) {
        var line = element("tr", {}, spec.columns.map(function (column) { return cellOf(column, row); }));
        if (spec.pick) {
          line.tabIndex = 0;
          line.setAttribute("aria-label", spec.pickName(row));
          if (spec.chosen(row)) { line.className = "chosen"; line.setAttribute("aria-current", "true"); }
          line.addEventListener("click", function () { spec.pick(row); });
          line.addEventListener("keydown", function (event) {
            if (event.key === "Enter" || event.key === " ") { event.preventDefault(); spec.pick(row); }
          });
        }
        return line;
      }));
      told.textContent = shown.length < found.length
        ? A.grouped(shown.length) + " of " + A.grouped(found.length) + " rows shown"
        : A.grouped(found.length) + (found.length === 1 ? " row" : " rows");
      more.hidden = shown.length >= found.length;
    }
    var more = element("button", { type: "button", text: "show all", onclick: function () { all = true; fill(); } });
    var tools = element("div", { class: "tools" });
    if (spec.filter !== false) {
      tools.append(element("label", {}, ["filter ", element("input", { type: "search", "aria-label": "filter " + spec.name,
        oninput: function (event) { wanted = event.target.value.toLowerCase(); fill(); } })]));
    }
    tools.append(told, more);
    if (spec.csv !== undefined) {
      tools.append(element("button", { type: "button", text: "download " + spec.name + ".csv",
        onclick: function () { download(spec.name + ".csv", spec.csv); } }));
    }
    fill();
    var table = element("table", { id: spec.id || "table-" + spec.name }, [element("thead", {}, [head]), body]);
    parent.replaceChildren(tools, element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "table " + spec.name }, [table]));
    return { refill: function (columns) { spec.columns = columns || spec.columns; fill(); } };
  }

  function download(name, text) {
    var link = element("a", { download: name, href: URL.createObjectURL(new Blob([text], { type: "text/csv" })) });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(function () { URL.revokeObjectURL(link.href); }, 10000);
  }

  // What is computed once for each choice and kept.

  function key(archive) {
    return [archive, state.selector, state.cap, state.competition].join("/");
  }
  function viewOf(archive) {
    var found = views.get(key(archive));
    if (!found) {
      if (held > MOST_HELD) { views.clear(); curves.clear(); bands.clear(); held = 0; }
      found = A.walks(data, archive, state);
      held += found.cost.length;
      views.set(key(archive), found);
    }
    return found;
  }
  function curveOf(archive) {
    var found = curves.get(key(archive));
    if (!found) {
      var view = viewOf(archive);
      found = A.curve(view, A.curveBudgets(view, Math.max(2, data.curve_points), data.budgets));
      curves.set(key(archive), found);
    }
    return found;
  }
  function hasProblems(archive) { return viewOf(archive).problems > 0; }

  function colourOf(archive) { return "var(--a" + (Math.max(0, state.shown.indexOf(archive)) % 10) + ")"; }
  function ruleColour(archive, rule) {
    return state.shown.length === 1 ? "var(--" + rule + ")" : colourOf(archive);
  }

  // The picture of the curve.

  function limits() {
    var low = Infinity, high = 1, dearest = 1, bottom = 100, top = 0;
    state.shown.forEach(function (archive) {
      var view = viewOf(archive), found = curveOf(archive);
      if (!view.problems) { return; }
      low = Math.min(low, view.smallest);
      high = Math.max(high, view.largest);
      dearest = Math.max(dearest, found.strict_cost[found.strict_cost.length - 1], found.advisory_cost[found.advisory_cost.length - 1]);
      [found.strict_accuracy, found.advisory_accuracy].forEach(function (values) {
        values.forEach(function (value) {
          if (!isNaN(value)) { bottom = Math.min(bottom, value); top = Math.max(top, value); }
        });
      });
    });
    if (low === Infinity) { low = 1; }
    bottom = Math.max(0, Math.floor(bottom / 10) * 10);
    top = Math.min(100, Math.ceil((top + 1) / 10) * 10);
    return { x: [Math.max(1, low), Math.max(high * 1.05, low * 2)], costs: [Math.max(1, low), Math.max(dearest * 1.1, low * 2)],
      y: bottom < top ? [bottom, top] : [0, 100] };
  }

  function drawCurve() {
    var place = byId("curve"), width = Math.max(280, place.clientWidth || 760);
    var tall = width < 500 ? 250 : Math.max(300, Math.min(430, window.innerHeight - 480));
    var bounds = limits(), series = [];
    state.bounds = bounds;
    state.shown.forEach(function (archive) {
      var found = curveOf(archive);
      if (!hasProblems(archive)) { return; }
      ["strict", "advisory"].forEach(function (rule) {
        var x = Array.from(state.axis === "budget" ? found.budgets : found[rule + "_cost"]);
        var y = Array.from(found[rule + "_accuracy"]);
        if (state.axis === "budget") { x.push(bounds.x[1]); y.push(y[y.length - 1]); }
        series.push({ archive: data.archives[archive], rule: rule, x: x, y: y,
          colour: ruleColour(archive, rule), dashed: rule === "advisory" });
      });
    });
    picture = pictures.curve(place, {
      width: width, height: tall, axis: state.axis, series: series,
      x: state.axis === "budget" ? bounds.x : bounds.costs, y: bounds.y,
      name: "accuracy of both rules over the " + (state.axis === "budget" ? "budget" : "realized cost"),
    });
    drawLegend();
    drawBand();
  }

  // The curves in the picture as CSV; a band that is not computed yet is left empty.
  function curveCsv() {
    var names = ["archive", "budget", "strict_accuracy", "advisory_accuracy", "delta", "delta_low", "delta_high",
      "band_low", "band_high", "strict_cost", "advisory_cost"], lines = [names.join(",")];
    function cell(value) { return value === null || value === undefined || Number.isNaN(value) ? "" : String(value); }
    state.shown.forEach(function (archive) {
      var found = curveOf(archive), band = bands.get(key(archive)), isDone = band && band.done && band.low;
      var name = data.archives[archive];
      found.budgets.forEach(function (budget, i) {
        lines.push([/[",\n]/.test(name) ? "\"" + name.replace(/"/g, "\"\"") + "\"" : name, budget,
          cell(found.strict_accuracy[i]), cell(found.advisory_accuracy[i]),
          cell(found.advisory_accuracy[i] - found.strict_accuracy[i]),
          isDone ? band.delta_low[i] : "", isDone ? band.delta_high[i] : "", isDone ? band.low[i] : "",
          isDone ? band.high[i] : "", found.strict_cost[i], found.advisory_cost[i]].join(","));
      });
    });
    return lines.join("\n") + "\n";
  }

  function drawLegend() {
    var keys = [];
    function add(text, colour, dashed) {
      var line = element("i", { class: dashed ? "dashed" : "" });
      line.style.setProperty("--colour", colour);
      keys.push(element("span", { class: "key" }, [line, text]));
    }
    if (state.shown.length === 1) {
      add("strict", "var(--strict)", false);
      add("advisory", "var(--advisory)", true);
    } else {
      state.shown.slice(0, 12).forEach(function (archive) {
        add(pictures.fitted(data.archives[archive], 240), colourOf(archive), false);
      });
      add("strict", "var(--ink)", false);
      add("advisory", "var(--ink)", true);
    }
    byId("legend").replaceChildren.apply(byId("legend"), keys);
  }

  function drawBand() {
    var note = byId("band-note"), archive = state.focus, found = curveOf(archive), view = viewOf(archive);
    picture.band(null);
    if (state.axis !== "budget") {
      note.textContent = "Dotted: the strict budget that costs what advisory costs.";
      return;
    }
    if (!view.graded || A.draws(view).replicates < 2) {
      note.textContent = view.graded ? "No band: too few bootstrap replicates." : "No band: this archive has no labels.";
      return;
    }
    var kept = bands.get(key(archive));
    if (!kept) { kept = A.band(view, found); bands.set(key(archive), kept); }
    if (kept.done) {
      picture.band({
        x: found.budgets, colour: ruleColour(archive, "advisory"),
        low: kept.low.map(function (value, i) { return clip(found.strict_accuracy[i] + value); }),
        high: kept.high.map(function (value, i) { return clip(found.strict_accuracy[i] + value); }),
      });
      note.textContent = "Shaded: strict plus the difference, with 95 % confidence for the whole curve at once"
        + (state.shown.length > 1 ? " (" + data.archives[archive] + ")" : "")
        + "; where it meets the strict line, no difference is not excluded.";
      return;
    }
    note.textContent = "The band is being computed …";
    later("band", function () {
      if (bands.get(key(archive)) !== kept) { return; }
      var until = performance.now() + 6;
      while (!kept.done && performance.now() < until) { kept.step(2); }
      if (state.focus === archive && state.axis === "budget") { drawBand(); }
    }, 8);
    function clip(value) { return Math.max(state.bounds.y[0], Math.min(state.bounds.y[1], value)); }
  }

  // Work that waits until nothing more urgent comes.
  var waiting = {};
  function later(name, work, delay) {
    clearTimeout(waiting[name]);
    waiting[name] = setTimeout(work, delay);
  }

  // Numbers at the budget.

  function show() {
    var archive = state.focus, view = viewOf(archive), budget = state.budget;
    clearTimeout(waiting.summary);
    document.querySelectorAll(".here").forEach(function (place) { place.textContent = "B = " + budgetName(budget); });
    if (!view.problems) {
      byId("headline").textContent = data.archives[archive] + " has no problem of this competition.";
      byId("numbers").replaceChildren();
      picture.move({ lines: [], points: [] });
      later("below", showBelow, 120);
      return;
    }
    var found = A.totals(view, budget), mean = A.means(view, found), ranges = A.intervals(view, found) || {};
    var same = A.matched(view, found);
    showNumbers(archive, view, mean, ranges, same);
    showHeadline(archive, view, mean, same);
    movePicture(mean, ranges, same);
    later("matched", function () {
      var exact = A.matchedIntervals(view, found);
      var place = byId("matched-range");
      if (place && exact && state.budget === budget && state.focus === archive) {
        place.textContent = exact.delta ? " " + range(exact.delta, 2) : "";
        place.title = "95 % interval: every replicate finds its own strict budget, "
          + range(exact.strict_budget, 0);
      }
    }, 60);
    later("below", showBelow, 120);
    later("hash", writeHash, 250);
  }

  function row(name, strict, advisory, kind) {
    return element("tr", kind ? { class: kind } : {}, [element("th", { scope: "row", text: name }),
      element("td", { text: strict }), element("td", { text: advisory })]);
  }

  function showNumbers(archive, view, mean, ranges, same) {
    var head = element("tr", {}, [element("th", { scope: "col" }, [element("span", { class: "unseen", text: "measure" })]),
      element("th", { scope: "col", class: "strict", text: "strict" }),
      element("th", { scope: "col", class: "advisory", text: "advisory" })]);
    var rows = [
      row("accuracy, %", decimal(mean.strict_accuracy, 2), decimal(mean.advisory_accuracy, 2), "big"),
      row("95 % interval", range(ranges.strict_accuracy, 2), range(ranges.advisory_accuracy, 2), "range"),
      row("realized cost, tokens", decimal(mean.strict_cost, 0), decimal(mean.advisory_cost, 0)),
      row("as a multiple of B", decimal(mean.strict_cost_ratio, 2) + " ×", decimal(mean.advisory_cost_ratio, 2) + " ×"),
      row("coverage, %", decimal(mean.strict_coverage, 2), decimal(mean.advisory_coverage, 2)),
      row("abstains, %", decimal(mean.strict_abstention, 2), decimal(mean.advisory_abstention, 2)),
      row("attempts returned", decimal(mean.returned, 2), decimal(mean.launched, 2)),
    ];
    var verdict = element("div", { class: "verdict" });
    if (view.graded) {
      verdict.append(element("p", {}, ["Same budget: advisory ", element("b", { id: "delta", text: signed(mean.delta, 2) }),
        " points ", element("span", { class: "range", id: "delta-range", text: range(ranges.delta, 2) })]));
      verdict.append(element("p", {}, ["Same money: strict at ",
        element("b", { id: "matched-budget", text: A.grouped(same.strict_budget) }), " tokens costs as much and gives ",
        element("b", { id: "matched-accuracy", text: decimal(same.strict_accuracy, 2) + " %" }), "; advisory ",
        element("b", { id: "matched-delta", text: signed(same.delta, 2) }), " points",
        element("span", { class: "range", id: "matched-range" }),
        same.exhausted ? " (every attempt is bought)" : "", "."]));
    } else {
      verdict.append(element("p", { text: "This archive has no labels: accuracy, coverage and differences cannot be told." }));
      verdict.append(element("p", { text: "Same money: strict at " + A.grouped(same.strict_budget) + " tokens." }));
    }
    if (mean.ended_by_bank > 5) {
      verdict.append(element("p", { class: "note", id: "bank-note", text: decimal(mean.ended_by_bank, 1)
        + " % of replays end because their attempts ran out, not the budget: there the rules must agree." }));
    }
    byId("numbers").replaceChildren(
      element("h2", { text: data.archives[archive] }),
      element("table", {}, [element("thead", {}, [head]), element("tbody", {}, rows)]), verdict);
  }

  function showHeadline(archive, view, mean, same) {
    var place = byId("headline"), parts = [];
    function bold(text, kind) { parts.push(element("b", kind ? { class: kind, text: text } : { text: text })); }
    parts.push("With ");
    bold(budgetName(state.budget) + " tokens");
    parts.push(" a problem, " + data.archives[archive]);
    if (!view.graded) {
      parts.push(" pays ");
      bold(decimal(mean.advisory_cost_ratio, 1) + " times the budget", "advisory");
      parts.push(" if the running attempt may finish.");
    } else {
      parts.push(" answers ");
      bold(decimal(mean.strict_accuracy, 1) + "\u00a0%", "strict");
      parts.push(" when cut at the budget and ");
      bold(decimal(mean.advisory_accuracy, 1) + "\u00a0%", "advisory");
      parts.push(" when the running attempt may finish, which pays ");
      bold(decimal(mean.advisory_cost_ratio, 1) + " times the budget", "advisory");
      parts.push("; strict with that money reaches ");
      bold(decimal(same.strict_accuracy, 1) + "\u00a0%", "strict");
      parts.push(".");
    }
    place.replaceChildren.apply(place, parts);
  }

  function movePicture(mean, ranges, same) {
    var lines = [], points = [];
    if (state.axis === "budget") {
      lines.push({ x: state.budget, kind: "now", text: "B = " + budgetName(state.budget) });
      if (state.shown.length === 1 && same.strict_budget > state.budget * 1.06) {
        lines.push({ x: same.strict_budget, kind: "same", text: "same cost", lower: 16 });
      }
    } else {
      lines.push({ x: mean.advisory_cost, kind: "same", text: "same cost" });
    }
    state.shown.forEach(function (archive) {
      var view = viewOf(archive);
      if (!view.problems) { return; }
      var own = archive === state.focus ? mean : A.means(view, A.totals(view, state.budget));
      ["strict", "advisory"].forEach(function (rule) {
        var found = archive === state.focus ? ranges[rule + "_accuracy"] : null;
        points.push({
          x: state.axis === "budget" ? state.budget : own[rule + "_cost"], y: own[rule + "_accuracy"],
          colour: ruleColour(archive, rule), hollow: rule === "advisory",
          low: found ? found.low : undefined, high: found ? found.high : undefined,
        });
      });
    });
    if (state.shown.length === 1 || state.axis === "cost") {
      points.push({ x: state.axis === "budget" ? same.strict_budget : same.strict_cost,
        y: same.strict_accuracy, colour: "var(--tie)", hollow: true });
    }
    picture.move({ lines: lines, points: points });
  }

  // Below the fold: all of it follows the budget, a little later.

  var summary = null, problems = null;
  function showBelow(isWhole) {
    showSummary(isWhole);
    showTimeline();
    showProblems();
  }

  // The columns of the summary, and what adds the next archive to them.
  function summaryColumns() {
    var columns = { archive: [], problems: [], strict: [], advisory: [], delta: [], ratio: [], budget: [], same: [] };
    var keys = { strict: [], advisory: [], delta: [], ratio: [], budget: [], same: [], problems: [] };
    function add() {
      var archive = columns.archive.length, view = viewOf(archive), found = A.totals(view, state.budget), mean = A.means(view, found);
      var ranges = A.intervals(view, found) || {}, same = view.problems ? A.matched(view, found) : {};
      function put(column, value, text) { keys[column].push(value === undefined ? null : value); columns[column].push(text); }
      columns.archive.push(data.archives[archive]);
      put("problems", view.problems, A.grouped(view.problems));
      put("strict", mean.strict_accuracy, decimal(mean.strict_accuracy, 2) + " " + range(ranges.strict_accuracy, 2));
      put("advisory", mean.advisory_accuracy, decimal(mean.advisory_accuracy, 2) + " " + range(ranges.advisory_accuracy, 2));
      put("delta", mean.delta, signed(mean.delta, 2) + " " + range(ranges.delta, 2));
      put("ratio", mean.advisory_cost_ratio, decimal(mean.advisory_cost_ratio, 2) + " ×");
      put("budget", same.strict_budget, same.strict_budget === undefined ? "" : A.grouped(same.strict_budget));
      put("same", same.delta, same.delta === undefined ? "" : signed(same.delta, 2));
    }
    function column(name, label) { return { name: name, label: label, numeric: name !== "archive", cells: columns[name], keys: keys[name] }; }
    return { add: add, names: columns.archive, columns: [
      column("archive", "archive"), column("problems", "problems"), column("strict", "strict accuracy, %"),
      column("advisory", "advisory accuracy, %"), column("delta", "change, points"),
      column("ratio", "advisory cost / B"), column("budget", "strict budget of equal cost"),
      column("same", "change at equal cost, points")] };
  }

  // Many archives take a while: the page answers in between, and rows of another budget are faint.
  function showSummary(isWhole) {
    var found = summaryColumns(), place = byId("summary-table");
    clearTimeout(waiting.summary);
    place.setAttribute("aria-busy", "true");
    if (!summary) { place.textContent = "The table is being computed …"; }
    (function some() {
      var until = performance.now() + SLICE;
      while (found.names.length < data.archives.length && (isWhole || performance.now() < until)) { found.add(); }
      if (found.names.length < data.archives.length) { later("summary", some, 10); return; }
      place.removeAttribute("aria-busy");
      fillSummary(found.columns);
    })();
  }

  function fillSummary(columns) {
    if (summary) { summary.refill(columns); return; }
    summary = dataTable(byId("summary-table"), {
      name: "archives", id: "archives-table", columns: columns, rows: data.archives.length, most: 60,
      filter: data.archives.length > 8, pickName: function (row) { return "show " + data.archives[row]; },
      chosen: function (row) { return row === state.focus; },
      pick: function (row) { state.shown = [row]; state.focus = row; change(); },
    });
  }

  function bankOf(archive, problem) {
    var last = data.archive_start[archive + 1];
    for (var bank = data.archive_start[archive]; bank < last; bank++) {
      if (data.bank_problem[bank] === problem) { return bank; }
    }
    return -1;
  }

  var problemRows = [];
  function problemColumns() {
    var view = viewOf(state.focus), found = A.totals(view, state.budget), orders = view.orders;
    var cells = [[], [], [], [], []], keys = [[], [], [], [], []];
    problemRows = view.banks.map(function (bank) { return data.bank_problem[bank]; });
    problemRows.forEach(function (problem, i) {
      var strict = (100 * found.strict_correct[i]) / orders, advisory = (100 * found.advisory_correct[i]) / orders;
      var extra = (found.advisory_cost[i] - found.strict_cost[i]) / orders;
      [problemName(problem), strict, advisory, advisory - strict, extra].forEach(function (value, place) {
        keys[place].push(value);
        cells[place].push(place === 0 ? value : !view.graded && place < 4 ? "—"
          : place === 3 ? signed(value, 0) : decimal(value, 0));
      });
    });
    return ["problem", "strict, %", "advisory, %", "change", "extra tokens"].map(function (label, place) {
      return { name: label, label: label, numeric: place > 0, cells: cells[place], keys: keys[place] };
    });
  }

  var problemsFor = null;
  function showProblems() {
    var columns = problemColumns(), now = [state.focus, state.competition].join("/");
    if (problems && problemsFor === now) { problems.refill(columns); return; }
    problemsFor = now;
    problems = dataTable(byId("problems"), {
      name: "problems", id: "problems-table", columns: columns, rows: problemRows.length, most: 400,
      filter: problemRows.length > 12, sort: { place: 3, down: true },
      pickName: function (row) { return "show " + problemName(problemRows[row]); },
      chosen: function (row) { return problemRows[row] === state.problem; },
      pick: function (row) { state.problem = problemRows[row]; showTimeline(); problems.refill(); later("hash", writeHash, 50); },
    });
  }

  // A problem at which the rules part at this budget and strict returns something, if there is one.
  function tellingProblem() {
    var view = viewOf(state.focus), found = A.totals(view, state.budget), best = null;
    view.banks.forEach(function (bank, i) {
      var gain = found.advisory_correct[i] - found.strict_correct[i];
      var score = Math.abs(gain) + (found.returned[i] > 0 ? view.orders : 0);
      if (gain === 0) { score = 0; }
      if (best === null || score > best.score) { best = { score: score, problem: data.bank_problem[bank] }; }
    });
    return best ? best.problem : null;
  }
  function tellingOrder(bank) {
    for (var pass = 0; pass < 2; pass++) {
      for (var repeat = 1; repeat <= data.orders; repeat++) {
        var found = A.replay(data, bank, repeat, state.cap, state.selector, state.budget);
        var strict = found.strict.picked, advisory = found.advisory.picked;
        var parts = (strict ? strict.label : 0) !== (advisory ? advisory.label : 0);
        if (parts && (pass === 1 || found.strict.returned > 0)) { return repeat; }
      }
    }
    return 1;
  }

  function showTimeline() {
    var place = byId("timeline"), width = Math.max(260, place.clientWidth || 700);
    var archive = state.focus;
    if (state.problem === null || bankOf(archive, state.problem) < 0) { state.problem = tellingProblem(); state.order = null; }
    if (state.problem === null) { place.textContent = "There is no problem to show."; return; }
    var bank = bankOf(archive, state.problem);
    if (state.order === null) { state.order = tellingOrder(bank); }
    byId("order").value = String(state.order);
    byId("replay-archive").value = String(archive);
    var found = A.replay(data, bank, state.order, state.cap, state.selector, state.budget);
    // The axis stays while the budget moves, until it must grow.
    var reach = 1.25 * Math.max(Math.min(state.budget, found.whole), found.advisory.cost), end = found.attempts[0].cost;
    while (end < reach) { end *= 1.6; }
    end = Math.min(end, 1.04 * Math.max(found.whole, 1));
    var colours = { strict: "var(--strict)", advisory: "var(--advisory)" };
    var label = ["incorrect", "correct", "unlabelled"];
    function named(attempt) {
      return "attempt " + attempt.position + " (seed " + attempt.seed + "): " + A.grouped(attempt.cost) + " tokens, "
        + attempt.finish + ", " + (attempt.answer === null ? "no answer" : "answer " + attempt.answer + ", " + label[attempt.label]);
    }
    function short(attempt) {
      if (attempt.answer === null || !attempt.eligible) { return "no vote"; }
      return attempt.answer + (attempt.label === 1 ? " ✓" : attempt.label === 0 ? " ✗" : "");
    }
    function lane(id, name, words, colour, pieces) {
      var head = element("p", {}, [].concat(words)), box = element("div");
      var whole = element("div", { class: "lane", id: "lane-" + id }, [head, box]);
      pictures.lane(box, { id: id, name: name, width: width, end: end, budget: state.budget, colour: colour, pieces: pieces });
      return whole;
    }
    var bankPieces = found.attempts.map(function (attempt) {
      return { start: attempt.start, stop: attempt.stop, kind: "waiting", label: short(attempt), title: named(attempt) };
    });
    function ruleLane(rule) {
      var outcome = found[rule], pieces = [];
      found.attempts.slice(0, found.advisory.launched).forEach(function (attempt) {
        var isReturned = attempt.position <= outcome.returned;
        pieces.push({
          start: attempt.start, stop: isReturned ? attempt.stop : Math.min(attempt.stop, state.budget),
          kind: !isReturned ? "cut" : attempt.eligible ? "returned" : "silent",
          label: isReturned ? short(attempt) : "cut", past: rule === "advisory" ? state.budget : 0,
          picked: outcome.picked === attempt,
          title: (isReturned ? "" : "cut at B, paid and not returned: ") + named(attempt),
        });
      });
      var paid = "pays " + A.grouped(outcome.cost);
      if (outcome.cut) { paid += ", of which " + A.grouped(outcome.cut) + " bought nothing: the running attempt is cut at B"; }
      else if (outcome.cost > state.budget) { paid += ", " + A.grouped(outcome.cost - state.budget) + " past B: the running attempt finishes"; }
      else if (outcome.cost < state.budget) { paid += ": the attempts ran out before B"; }
      var votes = element("span", { class: "votes" });
      outcome.votes.sort(function (a, b) { return b[1] - a[1]; }).slice(0, 5).forEach(function (vote) {
        var won = outcome.picked && outcome.picked.answer === vote[0];
        votes.append(element("span", { class: "tally" + (won ? " won" : ""), text: vote[1] + " × " + vote[0] }));
      });
      var picked = outcome.picked, verdict = element("b", picked && picked.label === 1 ? { class: "good" } : { class: "bad" });
      verdict.textContent = !picked ? "abstains, which counts as wrong"
        : "answers " + picked.answer + (picked.label === 1 ? " ✓ correct" : picked.label === 0 ? " ✗ wrong" : "");
      return lane(rule, rule + " stopping", [element("b", { class: rule, text: rule }),
        " returns " + outcome.returned + " of " + outcome.launched + " launched · " + paid + " · ",
        votes, " → ", verdict], colours[rule], pieces);
    }
    var axis = element("div", { class: "lane" });
    pictures.tokenAxis(axis, { width: width, end: end, budget: state.budget });
    var order = state.order === 0 ? "in the recorded order" : "in random order " + state.order;
    place.replaceChildren(
      lane("bank", "the attempts of this order", [element("b", { text: problemName(state.problem) }),
        " · " + found.attempts.length + " attempts " + order + ", end to end"], "var(--tie)", bankPieces),
      ruleLane("strict"), ruleLane("advisory"), axis,
      element("p", { class: "note", text: "Boxed: the attempt that is selected. Hatched: paid and thrown away. Bar below a block: paid past B." }),
      element("p", { class: "note" }, ["What was written: ", element("code", { text: command("show", "") }),
        data.budgets.indexOf(state.budget) >= 0 ? "; this picture as a file: " : "",
        data.budgets.indexOf(state.budget) >= 0
          ? element("code", { text: command("timeline", " --repeat " + state.order + " --budget " + state.budget) }) : ""]));
    function quoted(text) { return /^[\w.-]+$/.test(text) ? text : "'" + text.replace(/'/g, "'\\''") + "'"; }
    function command(name, more) {
      return "budget-audit " + name + " --archive " + quoted(data.archives[archive]) + " --competition "
        + quoted(data.competitions[data.problem_competition[state.problem]]) + " --question " + data.questions[state.problem] + more;
    }
  }

  // Policies, from the table.

  function numbersOf(table, name) {
    return table.records.map(function (record) { return record[name] === "" ? null : Number(record[name]); });
  }

  function showPolicies() {
    var table = tables.find(function (found) { return found.name === "policies"; });
    if (!table || !table.records.length) { byId("no-policies").hidden = false; byId("policies").hidden = true; return; }
    byId("policies").hidden = false;
    var archive = data.archives[state.focus], place = byId("cloud"), names = [], lines = [], all = [];
    var cost = numbersOf(table, "cost"), accuracy = numbersOf(table, "accuracy");
    var archives = table.columns.find(function (column) { return column.name === "archive"; }).cells;
    table.records.forEach(function (record, i) {
      if (names.indexOf(record.policy) < 0) { names.push(record.policy); }
      if (archives[i] !== archive || accuracy[i] === null || cost[i] === null) { return; }
      var line = lines.find(function (known) { return known.policy === record.policy && known.rule === record.rule; });
      if (!line) {
        line = { policy: record.policy, rule: record.rule, points: [] };
        lines.push(line);
      }
      var point = { cost: cost[i], accuracy: accuracy[i], budget: Number(record.budget),
        title: record.policy + ", " + record.rule + ", B = " + budgetName(Number(record.budget)) + ": "
          + decimal(accuracy[i], 2) + " % for " + decimal(cost[i], 0) + " tokens" };
      line.points.push(point);
      all.push(point);
    });
    lines.forEach(function (line) {
      line.shape = names.indexOf(line.policy);
      line.colour = "var(--a" + (line.shape % 10) + ")";
      line.points.sort(function (a, b) { return a.budget - b.budget; });
    });
    var frontier = [];
    all.slice().sort(function (a, b) { return a.cost - b.cost || b.accuracy - a.accuracy; }).forEach(function (point) {
      if (!frontier.length || point.accuracy > frontier[frontier.length - 1].accuracy) { frontier.push(point); }
    });
    if (all.length) {
      var xs = all.map(function (point) { return point.cost; }), ys = all.map(function (point) { return point.accuracy; });
      pictures.cloud(place, {
        width: Math.max(280, place.clientWidth || 600), height: 360, lines: lines, frontier: frontier,
        name: "accuracy against realized cost of every policy, " + archive,
        x: [Math.max(1, Math.min.apply(null, xs) / 1.1), Math.max.apply(null, xs) * 1.1],
        y: [Math.max(0, Math.floor(Math.min.apply(null, ys) / 10) * 10), Math.min(100, Math.ceil((Math.max.apply(null, ys) + 1) / 10) * 10)],
      });
    } else {
      place.textContent = table.cut && archives.indexOf(archive) < 0
        ? "This page holds the first rows of the table policies, and none of this archive: budget-audit table policies prints them."
        : "No policy has an accuracy here: the archive has no labels.";
    }
    var note = byId("cloud-note");
    note.replaceChildren(element("span", { text: archive + ": " }));
    names.forEach(function (name, shape) {
      var item = element("span", { class: "key" });
      pictures.shapeKey(item, shape, "var(--a" + (shape % 10) + ")");
      item.append(name);
      note.append(item);
    });
    note.append("Filled: strict; hollow: advisory. Lines join the budgets of the run; dotted: the frontier, the best accuracy for the money. At the primary cap and selector.");
    var own = table.records.map(function (record, i) { return i; }).filter(function (i) { return archives[i] === archive; });
    dataTable(byId("policies-table"), {
      name: "policies", id: "policies-here", rows: own.length, filter: own.length > 12, most: 60,
      columns: ["policy", "rule", "budget", "accuracy", "cost", "cost_saved"]
        .map(function (name) { return table.columns.find(function (column) { return column.name === name; }); })
        .filter(Boolean)
        .map(function (column) {
          return { name: column.name, label: column.label, numeric: column.numeric,
            cells: own.map(function (i) { return column.cells[i]; }), keys: own.map(function (i) { return column.keys[i]; }) };
        }),
    });
  }

  // Tables, from what the command line would print and export.

  function parseCsv(text) {
    var rows = [], row = [], cell = "", quoted = false;
    for (var i = 0; i < text.length; i++) {
      var c = text[i];
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
    var rows = parseCsv(table.csv), names = rows.shift();
    table.records = rows.map(function (row) {
      return Object.fromEntries(names.map(function (name, i) { return [name, row[i]]; }));
    });
    table.columns.forEach(function (column) {
      var place = names.indexOf(column.name);
      column.keys = column.cells.map(function (cell, row) {
        var value = place < 0 ? cell : rows[row][place];
        return column.numeric && value !== "" ? Number(value) : value;
      });
    });
    return table;
  }

  function showTables() {
    var list = byId("table-list");
    tables.forEach(function (table) {
      var inside = element("div"), notes = table.notes.map(function (text) { return element("p", { class: "note", text: text }); });
      var details = element("details", { id: "details-" + table.name, "data-table": table.name }, [
        element("summary", {}, [element("code", { text: table.name }), " " + table.purpose + " ",
          element("span", { class: "note", text: !table.columns.length ? "(not on this page)"
            : "(" + A.grouped(table.rows) + (table.rows === 1 ? " row)" : " rows)") })]),
        inside].concat(notes));
      details.addEventListener("toggle", function () {
        if (details.open && !inside.firstChild && table.rows) {
          dataTable(inside, { name: table.name, columns: table.columns, rows: table.rows, csv: table.csv });
        }
      });
      list.append(details);
    });
    byId("tables").hidden = false;
  }

  function showFindings(findings) {
    if (!findings.length) { return; }
    byId("findings").hidden = false;
    function cells(name) { return findings.map(function (finding) { return finding[name]; }); }
    dataTable(byId("findings-table"), {
      name: "findings", id: "findings-list", rows: findings.length, most: 60,
      columns: [
        { name: "question", label: "question", cells: cells("question") },
        { name: "archive", label: "archive", cells: cells("archive") },
        { name: "finding", label: "finding", cells: cells("short"), prose: cells("sentence"), source: cells("source") },
      ],
    });
  }

  // The address.

  function writeHash() {
    var words = new URLSearchParams();
    words.set("B", state.budget);
    words.set("focus", data.archives[state.focus]);
    state.shown.forEach(function (archive) { words.append("archive", data.archives[archive]); });
    if (state.selector !== data.primary_selector) { words.set("selector", data.selectors[state.selector].name); }
    if (state.cap !== data.primary_cap) { words.set("cap", state.cap); }
    if (state.competition !== null) { words.set("competition", data.competitions[state.competition]); }
    if (state.axis !== "budget") { words.set("axis", state.axis); }
    if (state.problem !== null) {
      words.set("problem", data.competitions[data.problem_competition[state.problem]] + "/" + data.questions[state.problem]);
      words.set("order", state.order);
    }
    var hash = "#" + words.toString();
    // A file has no history of its own to write to in some browsers.
    try { history.replaceState(null, "", hash); } catch (error) { location.hash = hash; }
  }

  function readHash() {
    var words = new URLSearchParams(location.hash.slice(1)), found = Object.assign({}, first);
    function whole(name, low, high, other) {
      var value = Number(words.get(name));
      return words.has(name) && Number.isInteger(value) && value >= low && value <= high ? value : other;
    }
    found.budget = whole("B", 1, 1e15, first.budget);
    found.cap = whole("cap", 1, data.largest_cap, first.cap);
    var shown = words.getAll("archive").map(function (name) { return data.archives.indexOf(name); })
      .filter(function (archive) { return archive >= 0; });
    if (shown.length) { found.shown = Array.from(new Set(shown)); found.focus = found.shown[0]; }
    var focus = data.archives.indexOf(words.get("focus"));
    if (focus >= 0 && found.shown.indexOf(focus) >= 0) { found.focus = focus; }
    var selector = data.selectors.findIndex(function (known) { return known.name === words.get("selector"); });
    if (selector >= 0) { found.selector = selector; }
    var competition = data.competitions.indexOf(words.get("competition"));
    if (competition >= 0) { found.competition = competition; }
    if (words.get("axis") === "cost") { found.axis = "cost"; }
    var problem = data.questions.findIndex(function (question, i) {
      return data.competitions[data.problem_competition[i]] + "/" + question === words.get("problem");
    });
    if (problem >= 0) { found.problem = problem; found.order = whole("order", 0, data.orders, 1); }
    return found;
  }

  // Controls.

  function options(select, texts, values) {
    select.replaceChildren.apply(select, texts.map(function (text, i) {
      return element("option", { value: String(values ? values[i] : i), text: text });
    }));
  }

  function sliderToBudget(value) {
    var low = state.bounds.x[0], high = state.bounds.x[1];
    return Math.max(1, Math.round(low * Math.pow(high / low, value / 2000)));
  }
  function budgetToSlider(budget) {
    var low = state.bounds.x[0], high = state.bounds.x[1];
    return Math.round(2000 * Math.log(Math.max(low, Math.min(high, budget)) / low) / Math.log(high / low));
  }

  function setBudget(budget, by) {
    budget = Math.max(1, Math.min(1e15, Math.round(budget)));
    state.budget = budget;
    if (by !== "slider") { byId("slider").value = String(budgetToSlider(budget)); }
    if (by !== "field") { byId("budget").value = String(budget); }
    byId("slider").setAttribute("aria-valuetext", A.grouped(budget) + " tokens");
    show();
  }

  function change() {
    byId("selector").value = String(state.selector);
    byId("cap").value = String(state.cap);
    byId("competition").value = state.competition === null ? "" : String(state.competition);
    document.querySelectorAll("input[name=axis]").forEach(function (input) { input.checked = input.value === state.axis; });
    byId("archives").querySelectorAll(".chip").forEach(function (chip, archive) {
      var shown = state.shown.indexOf(archive) >= 0;
      chip.setAttribute("aria-pressed", String(shown));
      chip.classList.toggle("focus", archive === state.focus);
      chip.style.setProperty("--colour", state.shown.length === 1 ? "var(--ink)" : colourOf(archive));
    });
    byId("explorer").classList.toggle("several", state.shown.length > 1);
    byId("explorer").style.setProperty("--focus", colourOf(state.focus));
    drawCurve();
    setBudget(state.budget);
    showPolicies();
  }

  function toggle(archive) {
    var at = state.shown.indexOf(archive);
    if (at < 0) { state.shown = state.shown.concat([archive]); state.focus = archive; }
    else if (state.focus !== archive) { state.focus = archive; }
    else if (state.shown.length > 1) {
      state.shown = state.shown.filter(function (known) { return known !== archive; });
      state.focus = state.shown[state.shown.length - 1];
    }
    change();
  }

  function controls() {
    if (data.archives.length > MANY_CHIPS) {
      byId("archives").classList.add("many");
      byId("archives").append(element("input", { type: "search", id: "find-archive", placeholder: "find an archive",
        "aria-label": "find an archive", oninput: function (event) {
          var wanted = event.target.value.toLowerCase();
          byId("archives").querySelectorAll(".chip").forEach(function (chip) {
            chip.hidden = !chip.title.toLowerCase().includes(wanted);
          });
        } }));
    }
    data.archives.forEach(function (name, archive) {
      byId("archives").append(element("button", { type: "button", class: "chip", "aria-pressed": "false",
        title: name, text: pictures.fitted(name, 260), onclick: function () { toggle(archive); } }));
    });
    if (data.archives.length > 2 && data.archives.length <= MOST_CURVES) {
      byId("archives").append(element("button", { type: "button", id: "all-archives", text: "all", class: "all",
        onclick: function () { state.shown = data.archives.map(function (_, i) { return i; }); change(); } }));
    }
    options(byId("selector"), data.selectors.map(function (selector) { return selector.name; }));
    options(byId("competition"), ["all"].concat(data.competitions), [""].concat(data.competitions.map(function (_, i) { return i; })));
    options(byId("replay-archive"), data.archives);
    var orders = [];
    for (var repeat = 0; repeat <= data.orders; repeat++) { orders.push(repeat === 0 ? "as recorded" : "random " + repeat); }
    options(byId("order"), orders);
    byId("cap").max = String(data.largest_cap);
    byId("slider").addEventListener("input", function (event) {
      setBudget(sliderToBudget(Number(event.target.value)), "slider");
    });
    byId("slider").addEventListener("keydown", function (event) {
      var step = event.key === "ArrowRight" || event.key === "ArrowUp" ? 1 : event.key === "ArrowLeft" || event.key === "ArrowDown" ? -1 : 0;
      var known = data.budgets;
      if (event.key === "PageUp") { event.preventDefault(); setBudget(known.find(function (b) { return b > state.budget; }) || state.budget); }
      else if (event.key === "PageDown") {
        event.preventDefault();
        setBudget(known.filter(function (b) { return b < state.budget; }).pop() || state.budget);
      } else if (step) {
        event.preventDefault();
        setBudget(state.budget + step * (event.shiftKey ? 1 : Math.max(1, Math.round(state.budget * 0.01))));
      }
    });
    byId("budget").addEventListener("input", function (event) {
      var value = Number(event.target.value);
      if (Number.isInteger(value) && value >= 1) { setBudget(value, "field"); }
    });
    byId("budget").addEventListener("change", function (event) { event.target.value = String(state.budget); });
    byId("selector").addEventListener("change", function (event) { state.selector = Number(event.target.value); change(); });
    byId("cap").addEventListener("change", function (event) {
      var cap = Math.round(Number(event.target.value));
      state.cap = cap >= 1 ? Math.min(cap, data.largest_cap) : state.cap;
      change();
    });
    byId("competition").addEventListener("change", function (event) {
      state.competition = event.target.value === "" ? null : Number(event.target.value);
      change();
    });
    document.querySelectorAll("input[name=axis]").forEach(function (input) {
      input.addEventListener("change", function () { state.axis = input.value; change(); });
    });
    byId("download-curve").addEventListener("click", function () { download("curve.csv", curveCsv()); });
    byId("reset").addEventListener("click", function () { state = Object.assign({ bounds: state.bounds }, first); change(); });
    byId("replay-archive").addEventListener("change", function (event) {
      var archive = Number(event.target.value);
      if (state.shown.indexOf(archive) < 0) { state.shown = state.shown.length === 1 ? [archive] : state.shown.concat([archive]); }
      state.focus = archive;
      change();
    });
    function turn(by) {
      state.order = Math.max(0, Math.min(data.orders, state.order + by));
      showTimeline();
      later("hash", writeHash, 50);
    }
    byId("order").addEventListener("change", function (event) { state.order = Number(event.target.value); turn(0); });
    byId("order-before").addEventListener("click", function () { turn(-1); });
    byId("order-after").addEventListener("click", function () { turn(1); });
    drag(byId("curve"));
    window.addEventListener("resize", function () { later("resize", change, 100); });
    window.addEventListener("hashchange", function () {
      if (/[#&]B=/.test(location.hash)) { state = Object.assign({ bounds: state.bounds }, readHash()); change(); }
    });
    window.addEventListener("beforeprint", function () { clearTimeout(waiting.below); showBelow(true); });
  }

  // Dragging in the picture moves the budget, over either axis.
  function drag(place) {
    var held = false;
    function move(event) {
      var svg = place.querySelector("svg"), box = svg.getBoundingClientRect();
      var value = picture.valueAt((event.clientX - box.left) * (svg.viewBox.baseVal.width / box.width));
      if (state.axis === "cost") {
        // Over realized cost the line is advisory's cost: the budget that comes nearest to it.
        var found = curveOf(state.focus), best = 0;
        found.advisory_cost.forEach(function (cost, i) {
          if (Math.abs(cost - value) < Math.abs(found.advisory_cost[best] - value)) { best = i; }
        });
        value = found.budgets[best];
      }
      setBudget(value);
    }
    place.addEventListener("pointerdown", function (event) { held = true; place.setPointerCapture(event.pointerId); move(event); });
    place.addEventListener("pointermove", function (event) { if (held) { move(event); } });
    ["pointerup", "pointercancel"].forEach(function (name) {
      place.addEventListener(name, function () { held = false; });
    });
  }

  // Where the rules part most: what the page opens with.
  function opening() {
    var best = { size: -1, archive: 0, budget: data.budgets[0] };
    data.archives.forEach(function (_, archive) {
      var view = viewOf(archive);
      data.budgets.forEach(function (budget) {
        var delta = A.means(view, A.totals(view, budget)).delta;
        if (delta !== null && Math.abs(delta) > best.size + 1e-9) { best = { size: Math.abs(delta), archive: archive, budget: budget }; }
      });
    });
    return best;
  }

  function start() {
    state = { budget: data.budgets[0], shown: [0], focus: 0, selector: data.primary_selector, cap: Math.min(data.primary_cap, data.largest_cap),
      competition: null, axis: "budget", problem: null, order: null };
    var best = opening();
    state.shown = [best.archive];
    state.focus = best.archive;
    state.budget = best.budget;
    first = Object.assign({}, state);
    state = readHash();
    ["explorer", "summary", "replay"].forEach(function (id) { byId(id).hidden = false; });
    controls();
    change();
    showBelow();
  }

  // Reading what the page carries.

  async function unpacked(id) {
    var text = byId(id).textContent.trim(), raw = atob(text), bytes = new Uint8Array(raw.length);
    for (var i = 0; i < raw.length; i++) { bytes[i] = raw.charCodeAt(i); }
    var stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
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
      var packed = JSON.parse(new TextDecoder().decode(await unpacked("page-tables")));
      tables = packed.tables.map(readTable);
      if (byId("walks")) { data = A.index(A.unpack(await unpacked("walks"))); }
      if (data) { start(); }
      showTables();
      showFindings(packed.findings);
      byId("trouble").hidden = true;
      document.documentElement.dataset.state = "ready";
    } catch (error) {
      trouble("The file is damaged (" + String(error && error.message ? error.message : error)
        + "). Write it again with: budget-audit report");
    }
  }

  main();
})();
