// Numbers, moments and lengths of time in words; all that is shown goes through textContent, or through plain().
const figures = new Intl.NumberFormat("en", { maximumSignificantDigits: 6 });
const few = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const LENGTHS = [[120, 1, "s"], [7200, 60, "min"], [172800, 3600, "h"], [Infinity, 86400, "d"]];

const number = (value) => (value === null ? "not known" : figures.format(value));

function span(seconds) {
  const [, scale, unit] = LENGTHS.find(([most]) => Math.abs(seconds) <= most);
  return `${few.format(seconds / scale)} ${unit}`;
}

// seconds of the data -> place on the axis: ms of the epoch (wall clock) where it is dated, else its unit
const placed = (time, seconds) => (time.dated ? time.origin + 1000 * seconds : seconds / time.scale);

// days, hours and minutes as clocks tell them
function clock(time, at) {
  const sign = at < 0 ? "−" : "", all = Math.round(Math.abs(at) * time.scale);
  const two = (value) => String(value).padStart(2, "0");
  const [d, h, m, s] = [Math.floor(all / 86400), Math.floor(all / 3600), Math.floor(all / 60), all % 60];
  const end = s ? `:${two(s)}` : "";
  if (time.unit === "d") return `${sign}${d} d ${two(h % 24)}:${two(m % 60)}${end}`;
  return time.unit === "h" ? `${sign}${h}:${two(m % 60)}${end}` : `${sign}${m}:${two(s)}`;
}

// ticks at round moments, said as clocks say them; a date axis, and one of bare seconds, finds its own
const STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2419200];

function timeTicks(time, [low, high], most) {
  if (time.dated || time.scale === 1) return {};
  const length = (high - low) * time.scale;
  const step = STEPS_S.find((s) => length / s <= most) ?? Math.ceil(length / most / 86400) * 86400;
  const first = Math.ceil((low * time.scale) / step - 1e-9), last = Math.floor((high * time.scale) / step + 1e-9);
  const at = Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => ((first + i) * step) / time.scale);
  const whole = step % time.scale === 0;
  return { tickvals: at, ticktext: at.map((value) => (whole ? String(Math.round(value)) : clock(time, value))) };
}

function moment(time, at) {
  if (!time.dated && time.scale > 1) return clock(time, at) + (time.unit === "d" ? "" : ` ${time.unit}`);
  if (!time.dated) return `${figures.format(at)} ${time.unit}`.trim();
  const text = new Date(Math.round(at)).toISOString();
  return `${text.slice(0, 10)} ${text.slice(11, text.slice(17, 19) === "00" ? 16 : 19)}`;
}

function told(column, index, time) {
  const value = column.values[index];
  if (value === null || value === undefined) return null;
  if (column.kind === "time") return moment(time, placed(time, value));
  if (column.kind === "span") return span(value);
  return column.kind === "text" ? value : number(value);
}

// plotly reads a few tags in what it draws; names from files are to have none
const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const short = (text, most) => (text.length <= most ? text : `${text.slice(0, most - 1)}…`);

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made) made[name] = value; else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}
