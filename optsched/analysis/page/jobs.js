// All jobs of a schedule as a table that is made when it is opened, a hundred rows at a time.
const ROWS = 100;

function jobTable(figure) {
  const { bars, data: { time } } = figure;
  if (!bars) return;
  const count = bars.jobs[0].values.length;
  const box = element("details", { className: "jobs" }, element("summary", {}, `Jobs (${figures.format(count)})`));
  figure.host.after(box);
  box.addEventListener("toggle", () => { if (box.open && box.children.length === 1) fill(); });

  function fill() {
    const seek = element("input", { type: "search", placeholder: "id contains", className: "seek" });
    seek.setAttribute("aria-label", "Show only jobs whose id contains");
    const line = element("tr"), body = element("tbody"), more = element("button", { type: "button" }, "Show more");
    for (const { label, kind } of bars.jobs) {
      line.append(element("th", { scope: "col", className: kind === "text" ? "" : "number" }, element("button", { type: "button" }, label)));
    }
    const table = element("table", { className: "sortable" }, element("thead", {}, line), body);
    let order = [...Array(count).keys()], shown = ROWS;
    const first = new Map();
    bars.job.forEach((job, i) => { if (main(bars, i) && !first.has(job)) first.set(job, i); });

    function write() {
      const wanted = order.filter((j) => !seek.value || bars.jobs[0].values[j].includes(seek.value));
      body.replaceChildren(...wanted.slice(0, shown).map(row));
      more.hidden = wanted.length <= shown;
      more.textContent = `Show more (${figures.format(wanted.length - shown)} left)`;
    }

    function row(j) {
      const cells = bars.jobs.map((column) => element("td", { className: column.kind === "text" ? "" : "number" }, told(column, j, time) ?? "–"));
      if (first.has(j)) {
        const button = element("button", { type: "button", className: "link", title: "Show its bar" }, cells[0].textContent);
        button.addEventListener("click", () => { figure.host.focus({ preventScroll: true }); figure.host.scrollIntoView({ block: "start" }); figure.near(first.get(j)); });
        cells[0].replaceChildren(button);
      }
      return element("tr", {}, ...cells);
    }

    heads(table, (column, sign) => {
      const { values } = bars.jobs[column];
      order.sort((a, b) => directed(values[a] ?? undefined, values[b] ?? undefined, sign) || a - b);
      write();
    });
    seek.addEventListener("input", () => { shown = ROWS; write(); });
    more.addEventListener("click", () => { shown += ROWS; write(); });
    box.append(seek, element("div", { className: "wide" }, table), more);
    write();
  }
}
