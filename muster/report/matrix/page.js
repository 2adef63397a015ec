"use strict";
(function () {
  const table = document.getElementById("matrix");
  const form = document.getElementById("filters");
  const rows = Array.from(table.querySelectorAll("tbody tr:not(.profile)"));

  function field(label, control) {
    const holder = document.createElement("label");
    holder.append(label + " ", control);
    form.append(holder);
    return control;
  }

  function choice(label, values) {
    const control = document.createElement("select");
    for (const value of ["all"].concat(values)) control.append(new Option(value));
    return field(label, control);
  }

  const text = field("find", Object.assign(document.createElement("input"), { type: "search" }));
  const level = choice("level", ["must", "should", "may"]);
  const only = choice("rows", ["with a red cell", "that differ between schedulers"]);

  function shows(row) {
    if (text.value && !row.textContent.toLowerCase().includes(text.value.toLowerCase())) return false;
    if (level.value !== "all" && row.dataset.level !== level.value) return false;
    const verdicts = Array.from(row.querySelectorAll("td:not(.what)"), (cell) => cell.className);
    if (only.value.startsWith("with")) return verdicts.some((name) => name === "failed" || name === "unstable");
    if (only.value.startsWith("that")) {
      return new Set(verdicts.filter((name) => name === "passed" || name === "failed" || name === "unstable")).size > 1;
    }
    return true;
  }

  function filter() {
    for (const row of rows) row.hidden = !shows(row);
    for (const body of table.tBodies) body.hidden = !Array.from(body.rows).some((row, at) => at > 0 && !row.hidden);
  }

  // A click on a scheduler's head brings its red cells up, profile by profile; a second click restores the order.
  const places = new Map(rows.map((row, at) => [row, at]));
  let sorted = -1;
  function sort(column) {
    sorted = sorted === column ? -1 : column;
    const weight = (row) => ["failed", "unstable", "error"].includes(row.cells[column].className) ? 0 : 1;
    for (const body of table.tBodies) {
      const own = Array.from(body.rows).slice(1);
      own.sort((a, b) => (sorted < 0 ? 0 : weight(a) - weight(b)) || places.get(a) - places.get(b));
      body.append(...own);
    }
  }
  Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
    if (column > 1) head.addEventListener("click", (event) => { if (event.target.tagName !== "A") sort(column); });
  });

  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
})();
