// A panel is a plot of its own under a heading with its legend; all panels of a figure share their time.
const MARGIN = { r: 14, t: 6 };
const below = (panel, last) => (last ? 42 : panel.gantt ? 24 : 8);  // px for the axis of time

function curveTrace(curve, at, panel) {
  const x = [...curve.x.map(at), at(curve.end)];
  const value = (i) => {
    if (curve.y[i] === null) return null;
    const y = curve.y[i] + (curve.base ? curve.base[i] : 0);
    return panel.log ? Math.max(y, panel.least) : y;
  };
  const y = curve.y.map((_, i) => value(i));
  y.push(y.length ? y[y.length - 1] : null);
  const trace = { type: "scatter", mode: "lines", x, y, hoverinfo: "skip", line: { shape: "hv", ...stroke(curve) } };
  return curve.fill ? { ...trace, fill: "tozeroy", fillcolor: colour(curve.role) } : trace;
}

// a little room above; undefined leaves it to plotly
function upright(traces, panel) {
  if (panel.log || !panel.fromZero) return undefined;
  let [low, high] = [0, 0];
  for (const { y } of traces) for (const value of y) if (value !== null) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return [1.1 * low, 1.1 * high || 1];
}

// decades on a logarithmic axis; the least is called 0
function decades(traces, least) {
  let high = 10 * least;
  for (const { y } of traces) for (const value of y) if (value !== null) high = Math.max(high, value);
  const [from, to] = [Math.round(Math.log10(least)), Math.ceil(Math.log10(high))];
  const each = Math.max(1, Math.ceil((to - from) / 5));
  const powers = Array.from({ length: Math.floor((to - from) / each) + 1 }, (_, i) => from + i * each);
  return { type: "log", range: [from - 0.25, to + 0.15], tickvals: powers.map((p) => 10 ** p), ticktext: powers.map((p) => (p === from ? "0" : figures.format(10 ** p))) };
}

function stroke(curve) {
  if (curve.series !== null) return { color: colour(`series${curve.series % SERIES}`), dash: DASHES[curve.series % 4], width: 1.8 };
  const dash = { before: "dash", bound: "dash", capacity: "solid" }[curve.role] ?? "solid";
  return { color: colour(curve.role), dash, width: curve.fill ? 0 : curve.x.length > 500 ? 0.9 : 1.7 };
}

function axis(extra) {
  const lines = { gridcolor: colour("grid"), linecolor: colour("line"), zerolinecolor: colour("line"), tickcolor: colour("line") };
  return { ...lines, tickfont: { color: colour("muted"), size: 11 }, ticks: "outside", ticklen: 3, zeroline: false, ...extra };
}

function layout(figure, panel, extra, last) {
  const { data, range, left } = figure;
  const whole = [figure.at(0), figure.at(data.end)];
  const x = { type: data.time.dated ? "date" : "linear", range: [...range], minallowed: whole[0], maxallowed: whole[1] };
  const title = { text: plain(data.time.label), standoff: 6, font: { size: 12, color: colour("muted") } };
  return {
    margin: { ...MARGIN, l: left, b: below(panel, last) },
    showlegend: false, hovermode: false, dragmode: figure.mode, autosize: true,
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: colour("plot"),
    font: { family: "system-ui, sans-serif", color: colour("ink"), size: 12 },
    xaxis: axis({ ...x, showticklabels: last || panel.gantt, ...figure.times(), ...(last ? { title } : {}), automargin: false }),
    ...extra,
  };
}

function legend(entries, toggle) {
  const list = element("ul", { className: "legend" });
  entries.forEach(({ name, swatch, kind }, i) => {
    const sign = element("span", { className: `swatch ${kind}` });
    sign.style.setProperty("--swatch", swatch);
    const button = element("button", { type: "button", title: "Show or hide" }, sign, short(name, 48));
    button.setAttribute("aria-pressed", "true");
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(on));
      toggle(i, on);
    });
    list.append(element("li", {}, button));
  });
  return list;
}

const looks = (curve) => ({
  name: curve.name,
  swatch: `var(--${curve.series === null ? curve.role : `series${curve.series % SERIES}`})`,
  kind: curve.fill ? "area" : stroke(curve).dash,
});

// the value that a step curve has
function valueAt(curve, seconds) {
  if (seconds < curve.x[0] || seconds > curve.end) return undefined;
  let [low, high] = [0, curve.x.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (curve.x[middle] <= seconds) low = middle; else high = middle - 1;
  }
  return curve.y[low];
}
