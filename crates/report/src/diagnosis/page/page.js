"use strict";
// The page without this script has everything but the choice of an instant of the timeline, and copying by a click.

// Code to copy.
for (const block of document.querySelectorAll("pre.code")) {
  const around = document.createElement("div");
  const button = document.createElement("button");
  around.className = "with-copy";
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(block.textContent);
      button.textContent = "Copied";
      button.classList.add("said");
    } catch {
      // Where pages may not write to the clipboard, what is selected can be copied by hand.
      getSelection().selectAllChildren(block);
      button.textContent = "Selected";
    }
  });
  block.replaceWith(around);
  around.append(block, button);
}

// Figures as the rest of the report writes them.
// `toFixed` rounds halves up; the report rounds them to the even digit. Only multiples of powers of two are halves exactly.
const fixed = (value, digits) => {
  const scaled = value * 10 ** digits;
  const isHalf = Number.isInteger(value * 2 ** (digits + 1)) && scaled % 1 === 0.5;
  const down = Math.floor(scaled);
  return isHalf && down % 2 === 0 ? (down / 10 ** digits).toFixed(digits) : value.toFixed(digits);
};
const separated = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
const bytesText = (size) => {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  const sign = size < 0 ? "-" : "";
  let value = Math.abs(size);
  if (value < 1024) return `${sign}${value} B`;
  let unit = 0;
  while (1023.5 <= value && unit + 1 < units.length) {
    value /= 1024;
    unit += 1;
  }
  const digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return `${sign}${fixed(value, digits)} ${units[unit]}`;
};
const durationText = (us) => {
  const sign = us < 0 ? "-" : "";
  us = Math.abs(us);
  if (us < 1e3) return `${sign}${us} µs`;
  if (us < 1e6) return `${sign}${fixed(us / 1e3, 1)} ms`;
  if (us < 6e8) return `${sign}${fixed(us / 1e6, 3)} s`;
  const seconds = Math.floor(us / 1e6);
  const two = (n) => String(n).padStart(2, "0");
  return `${sign}${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
};
const amountText = (bytes, inferred) => {
  if (inferred <= 0) return bytesText(bytes);
  if (inferred === bytes) return `≈ ${bytesText(bytes)}`;
  return `${bytesText(bytes)} (≈ ${bytesText(inferred)} inferred)`;
};
const shareText = (part, whole) => (whole === 0 ? "0 %" : `${fixed((part / whole) * 100, 1)} %`);

// The timeline: a slider over its columns.
function scrub(data) {
  const find = (id) => document.getElementById(id);
  const [plot, cursor] = [find("plot"), find("cursor")];
  const picture = plot.querySelector("img");
  const narrow = matchMedia(data.narrow);
  const place = () => data.plots[narrow.matches ? 1 : 0];
  const bands = [...document.querySelectorAll("#readout .band")];
  const totals = [...document.querySelectorAll("#readout .total")];
  let column = data.marks[data.at].column;

  const title = (row) => {
    if (data.columns <= row) return data.marks[row - data.columns].title;
    const event = data.event[row];
    return event < 0 ? "Before the first event" : `After event ${separated(event)}`;
  };
  const where = (row) => {
    const parts = [];
    if (data.time_us[row] !== null) parts.push(durationText(data.time_us[row]));
    const phase = data.phases[data.phase[row]];
    const number = data.iteration[row];
    const of = data.is_numbered ? "" : " of the recording";
    const iteration = number === null ? undefined : `iteration ${number}${of}`;
    const activity = phase && iteration ? `${phase} of ${iteration}` : phase || iteration;
    if (activity) parts.push(activity);
    return parts.join(" · ");
  };
  // Bars of all instants have one scale.
  const bar = (cell, bytes) => {
    const share = Math.max(0, Math.min(1, bytes / Math.max(1, data.full)));
    cell.querySelector("rect:last-child").setAttribute("width", (share * data.bar).toFixed(1));
  };
  const point = () => {
    const { x: [left, right], y: [top, bottom] } = place();
    cursor.style.left = `${left + ((right - left) * (column + 0.5)) / data.columns}%`;
    cursor.style.top = `${top}%`;
    cursor.style.height = `${bottom - top}%`;
  };
  const show = (row) => {
    const isMark = data.columns <= row;
    column = isMark ? data.marks[row - data.columns].column : row;
    point();
    find("when").textContent = title(row);
    find("where").textContent = where(row);
    data.bands.forEach((band, i) => {
      const cells = bands[i].cells;
      bar(cells[0], band.bytes[row]);
      cells[2].textContent = amountText(band.bytes[row], band.inferred ? band.inferred[row] : 0);
      cells[3].textContent = shareText(band.bytes[row], data.active[row]);
    });
    const values = [data.active[row], data.allocated[row], data.reserved[row]];
    values.forEach((value, i) => {
      bar(totals[i].cells[0], value);
      totals[i].cells[2].textContent = bytesText(value);
    });
    // The line shows the most of the column, which may be at another instant than this one.
    const most = isMark ? 0 : data.most_reserved[row];
    totals[2].cells[3].textContent = data.reserved[row] < most ? `up to ${bytesText(most)}` : "";
    plot.setAttribute("aria-valuenow", column);
    const amounts = [...bands].map((band) => `${band.cells[1].textContent} ${band.cells[2].textContent}`);
    const said = [title(row), where(row), `active ${bytesText(data.active[row])}`, ...amounts];
    plot.setAttribute("aria-valuetext", said.join(", "));
  };
  const go = (to) => show(Math.max(0, Math.min(data.columns - 1, to)));

  const follow = (event) => {
    const { left: start, width } = picture.getBoundingClientRect();
    const [left, right] = place().x;
    const at = ((event.clientX - start) / width) * 100;
    go(Math.floor(((at - left) / (right - left)) * data.columns));
  };
  picture.addEventListener("pointermove", follow);
  picture.addEventListener("pointerdown", follow);
  narrow.addEventListener("change", point);

  // The next mark of a kind, around again from the first.
  const next = (kind) => {
    const rows = data.marks.flatMap((mark, i) => (mark.kind === kind ? [i] : []));
    if (rows.length === 0) return;
    const after = rows.find((i) => column < data.marks[i].column);
    show(data.columns + (after === undefined ? rows[0] : after));
  };
  plot.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const step = event.shiftKey ? Math.max(1, Math.round(data.columns / 20)) : 1;
    const actions = {
      ArrowLeft: () => go(column - step),
      ArrowDown: () => go(column - step),
      ArrowRight: () => go(column + step),
      ArrowUp: () => go(column + step),
      PageDown: () => go(column - Math.round(data.columns / 20)),
      PageUp: () => go(column + Math.round(data.columns / 20)),
      Home: () => go(0),
      End: () => go(data.columns - 1),
      p: () => next("peak"),
      o: () => next("oom"),
    };
    const action = actions[event.key] || actions[event.key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    action();
  });

  const buttons = document.createElement("div");
  buttons.id = "marks";
  for (const [kind, name] of [["peak", "Peak"], ["oom", "Out of memory"]]) {
    if (!data.marks.some((mark) => mark.kind === kind)) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = name;
    button.addEventListener("click", () => next(kind));
    buttons.append(button);
  }
  find("readout").append(buttons);

  plot.tabIndex = 0;
  plot.setAttribute("role", "slider");
  plot.setAttribute("aria-label", picture.alt);
  plot.setAttribute("aria-valuemin", 0);
  plot.setAttribute("aria-valuemax", data.columns - 1);
  find("hint").hidden = false;
  cursor.hidden = false;
  show(data.columns + data.at);
}

const memory = document.getElementById("memory");
if (memory) scrub(JSON.parse(memory.textContent));
