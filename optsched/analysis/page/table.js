// Tables are sorted by clicking their heads; what has no value stays below.
function compare(a, b) {
  if (a === undefined || b === undefined) return { none: (a === undefined) - (b === undefined) };
  const [x, y] = [Number(a), Number(b)];
  return { order: Number.isNaN(x) || Number.isNaN(y) ? String(a).localeCompare(String(b), "en", { numeric: true }) : x - y };
}

function directed(first, second, sign) {
  const { none, order } = compare(first, second);
  return none ?? sign * order;
}

function heads(table, sort) {
  const cells = [...table.tHead.rows[0].cells];
  cells.forEach((cell, column) => cell.querySelector("button").addEventListener("click", () => {
    const up = cell.getAttribute("aria-sort") !== "ascending";
    cells.forEach((other) => other.removeAttribute("aria-sort"));
    cell.setAttribute("aria-sort", up ? "ascending" : "descending");
    sort(column, up ? 1 : -1);
  }));
}

function sortable(table) {
  const body = table.tBodies[0];
  heads(table, (column, sign) => {
    const key = (row) => row.cells[column].dataset.key;
    body.append(...[...body.rows].sort((a, b) => directed(key(a), key(b), sign)));
  });
}
