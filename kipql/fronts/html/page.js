"use strict";
// The page of a memory. Everything is looked up in the data: what was there at a state, what was believed for a time.
// What the memory holds becomes text nodes, never markup.
(() => {
  const memory = JSON.parse(document.getElementById("memory").textContent);
  const SVG = "http://www.w3.org/2000/svg";
  const states = memory.states, last = states.length - 1;
  const at = (id) => document.getElementById(id);
  const now = { state: last, time: memory.now, chosen: null };

  const make = (name, attributes = {}, ...children) => {
    const node = attributes.svg ? document.createElementNS(SVG, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) if (key !== "svg") node.setAttribute(key, value);
    node.append(...children);
    return node;
  };
  const draw = (name, attributes, ...children) => make(name, { ...attributes, svg: true }, ...children);

  // --- looking up ---------------------------------------------------------------------------------------------------
  const held = (runs, state) => {
    let value = null;
    for (const run of runs) { if (run[0] > state) break; value = run[1]; }
    return value;
  };
  const cellOf = (view, time) => {
    let found = view.cells[0];
    for (const cell of view.cells) { if (cell[0] !== null && cell[0] > time) break; found = cell; }
    const [, status, accepted, candidates, verdicts, why] = found;
    return { status, accepted, candidates, verdicts, why };
  };
  const slotsOf = new Map();
  for (const slot of memory.slots) slotsOf.set(`${slot.subject} ${slot.predicate}`, slot);
  const statusOf = (edge) => {
    const slot = slotsOf.get(`${memory.vertices[edge.from].id} ${edge.says}`);
    const view = slot && held(slot.runs, now.state);
    return (view && cellOf(view, now.time).candidates[edge.id]) || "insufficient";
  };

  // --- world time ---------------------------------------------------------------------------------------------------
  const known = new Set([memory.now]);
  const changes = new Set();
  for (const slot of memory.slots) for (const [, view] of slot.runs) if (view) {
    for (const claim of view.claims) for (const side of [claim.at, ...claim.from, ...claim.until]) if (side !== null) known.add(side);
    for (const cell of view.cells) if (cell[0] !== null) { known.add(cell[0]); changes.add(cell[0]); }
  }
  const sorted = [...known].sort((a, b) => a - b);
  const margin = Math.max(86400000, (sorted[sorted.length - 1] - sorted[0]) / 20);
  const first = sorted[0] - margin, end = sorted[sorted.length - 1] + margin;
  const steps = [...changes].sort((a, b) => a - b);
  const shown = (ms) => {
    const date = new Date(ms);
    if (isNaN(date)) return String(ms);
    const text = date.toISOString();
    return text.slice(11, 16) === "00:00" ? text.slice(0, 10) : `${text.slice(0, 10)} ${text.slice(11, 16)}Z`;
  };

  // --- the graph ----------------------------------------------------------------------------------------------------
  const picture = at("picture");
  const places = memory.vertices.map(({ xy }) => [...xy]);
  const kinds = [...new Set(memory.vertices.flatMap((each) => each.runs.filter((run) => run[1]).map((run) => run[1][0])))].sort();
  const colour = (kind) => `hsl(${(kinds.indexOf(kind) * 137.5 + 215) % 360} 55% 52%)`;
  const short = (text, most) => (text.length > most ? `${[...text].slice(0, most - 1).join("")}…` : text);
  picture.append(draw("defs", {}, draw("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto" },
    draw("path", { d: "M0 0L8 4L0 8z", fill: "context-stroke" }))));
  const edgeNodes = memory.edges.map((edge) => {
    const line = draw("path", { class: "edge", "marker-end": "url(#arrow)" }), says = draw("text", { class: "says" }, edge.says);
    const group = draw("g", {}, line, says);
    picture.append(group);
    return { group, line, says };
  });
  const twins = new Map();
  memory.edges.forEach((edge, number) => {
    const key = [edge.from, edge.to].sort((a, b) => a - b).join("-");
    twins.set(key, [...(twins.get(key) || []), number]);
  });
  const vertexNodes = memory.vertices.map((vertex, number) => {
    const dot = draw("circle", { r: vertex.literal === null ? 13 : 6 }), name = draw("text", { y: vertex.literal === null ? 30 : 20 });
    const group = draw("g", { class: vertex.literal === null ? "vertex" : "vertex literal", tabindex: 0, role: "button" }, dot, name, draw("title", {}));
    group.addEventListener("click", () => choose(vertex.id));
    group.addEventListener("keydown", (event) => { if (event.key === "Enter") choose(vertex.id); });
    group.addEventListener("pointerdown", (event) => { event.stopPropagation(); grab(event, number); });
    picture.append(group);
    return { group, dot, name };
  });

  const place = () => {
    memory.edges.forEach((edge, number) => {
      const [x1, y1] = places[edge.from], [x2, y2] = places[edge.to];
      const key = [edge.from, edge.to].sort((a, b) => a - b).join("-"), peers = twins.get(key);
      const bend = (peers.indexOf(number) - (peers.length - 1) / 2) * 46 * (edge.from <= edge.to ? 1 : -1);
      const dx = x2 - x1, dy = y2 - y1, far = Math.hypot(dx, dy) || 1;
      const mx = (x1 + x2) / 2 - (dy / far) * bend, my = (y1 + y2) / 2 + (dx / far) * bend;
      const { line, says } = edgeNodes[number];
      const short = (memory.vertices[edge.to].literal === null ? 15 : 8) / (Math.hypot(x2 - mx, y2 - my) || 1);
      const [ex, ey] = [x2 - (x2 - mx) * short, y2 - (y2 - my) * short];
      line.setAttribute("d", edge.from === edge.to ? `M${x1} ${y1}c-60 -70 60 -70 0 0` : `M${x1} ${y1}Q${mx} ${my} ${ex} ${ey}`);
      const loop = edge.from === edge.to;
      curves[number] = loop ? [[x1, y1], [x1 - 60, y1 - 70], [x1 + 60, y1 - 70], [x1, y1]] : [[x1, y1], [mx, my], [ex, ey]];
    });
    vertexNodes.forEach(({ group }, number) => group.setAttribute("transform", `translate(${places[number]})`));
    placeSays();
  };
  // What an edge says stands on it, as near to its middle as nothing else is written or drawn: names, dots, other labels.
  const curves = [];
  const along = (points, t) => {
    while (points.length > 1) points = points.slice(1).map(([x, y], n) => [points[n][0] * (1 - t) + x * t, points[n][1] * (1 - t) + y * t]);
    return points[0];
  };
  const meet = (a, b) => Math.max(0, Math.min(a[2], b[2]) - Math.max(a[0], b[0])) * Math.max(0, Math.min(a[3], b[3]) - Math.max(a[1], b[1]));
  const TRIED = [0.5, 0.44, 0.56, 0.38, 0.62, 0.32, 0.68, 0.26, 0.74, 0.2, 0.8, 0.14, 0.86];
  const BESIDE = [-4, 4, 14, -12, 22, -20, 30, -28];
  const SQUARE = 96, long = new Map();
  const longOf = (node) => {
    const key = `${node.getAttribute("class") ?? (node.closest(".literal") ? "value" : "name")} ${node.textContent}`;
    if (!long.has(key)) long.set(key, node.getComputedTextLength());
    return long.get(key);
  };
  const placeSays = () => {
    const taken = new Map();
    const squares = ([left, top, right, bottom]) => {
      const found = [];
      for (let x = Math.floor(left / SQUARE); x * SQUARE <= right; x += 1) for (let y = Math.floor(top / SQUARE); y * SQUARE <= bottom; y += 1) found.push(x * 65536 + y);
      return found;
    };
    const take = (area, weight) => { for (const square of squares(area)) taken.has(square) ? taken.get(square).push([area, weight]) : taken.set(square, [[area, weight]]); };
    const cost = (area) => {
      let sum = 0;
      for (const square of squares(area)) for (const [each, weight] of taken.get(square) || []) sum += weight * meet(area, each);
      return sum;
    };
    const drawn = ({ group }) => group.getAttribute("display") !== "none";
    const halves = edgeNodes.map((each) => (drawn(each) ? longOf(each.says) / 2 + 2 : 0));
    vertexNodes.forEach((each, number) => {
      if (!drawn(each)) return;
      const [x, y] = places[number], r = Number(each.dot.getAttribute("r")), below = y + Number(each.name.getAttribute("y"));
      const half = longOf(each.name) / 2 + 3;
      take([x - r, y - r, x + r, y + r], 1);
      take([x - half, below - 13, x + half, below + 5], 9);  // a name is what may least be hidden
    });
    edgeNodes.forEach((each, number) => {
      if (!drawn(each)) return;
      const half = halves[number];
      let best = null, least = Infinity;
      for (const beside of BESIDE) for (const t of least === 0 ? [] : TRIED) {
        const [x, y] = along(curves[number], t), area = [x - half, y + beside - 11, x + half, y + beside + 4];
        const met = cost(area);
        if (met < least) [best, least] = [[x, y + beside, area], met];
        if (least === 0) break;
      }
      each.says.setAttribute("x", best[0]);
      each.says.setAttribute("y", best[1]);
      take(best[2], 1);
    });
  };

  const reach = (axis) => Math.max(300, ...places.map((each) => each[axis] + 64));
  const box = { x: 0, y: 0, w: reach(0), h: reach(1) };
  const frame = () => picture.setAttribute("viewBox", `${box.x} ${box.y} ${box.w} ${box.h}`);
  const scale = () => Math.max(box.w / picture.clientWidth, box.h / picture.clientHeight) || 1;
  const grab = (start, number) => {
    let [x, y] = [start.clientX, start.clientY];
    const move = (event) => {
      const [dx, dy] = [(event.clientX - x) * scale(), (event.clientY - y) * scale()];
      [x, y] = [event.clientX, event.clientY];
      if (number === null) { box.x -= dx; box.y -= dy; frame(); }
      else { places[number][0] += dx; places[number][1] += dy; place(); }
    };
    const stop = () => { removeEventListener("pointermove", move); removeEventListener("pointerup", stop); };
    addEventListener("pointermove", move);
    addEventListener("pointerup", stop);
  };
  picture.addEventListener("pointerdown", (event) => grab(event, null));
  picture.addEventListener("wheel", (event) => {
    event.preventDefault();
    const by = event.deltaY > 0 ? 1.15 : 1 / 1.15, area = picture.getBoundingClientRect();
    const [px, py] = [(event.clientX - area.left) / area.width, (event.clientY - area.top) / area.height];
    box.x += box.w * (1 - by) * px; box.y += box.h * (1 - by) * py; box.w *= by; box.h *= by;
    frame();
  }, { passive: false });

  const nameOf = (vertex, card) => vertex.literal ?? (card ? card[2] ?? card[1] ?? vertex.id : vertex.id);
  const drawGraph = () => {
    const there = new Set(), near = new Set([now.chosen]);
    memory.edges.forEach((edge, number) => {
      const on = held(edge.runs, now.state), status = statusOf(edge);
      edgeNodes[number].group.setAttribute("display", on ? "inline" : "none");
      edgeNodes[number].group.setAttribute("class", status);
      edgeNodes[number].line.setAttribute("class", `edge ${status}`);
      if (!on) return;
      there.add(edge.from).add(edge.to);
      const ends = [memory.vertices[edge.from].id, memory.vertices[edge.to].id];
      if (ends.includes(now.chosen)) ends.forEach((each) => near.add(each));
    });
    memory.vertices.forEach((vertex, number) => {
      const card = held(vertex.runs, now.state), on = card || (vertex.literal !== null && there.has(number));
      const { group, dot, name } = vertexNodes[number];
      group.setAttribute("display", on ? "inline" : "none");
      if (card) dot.setAttribute("fill", colour(card[0]));
      name.textContent = short(nameOf(vertex, card), 24);
      group.lastChild.textContent = `${card ? `${card[0]} ` : ""}${nameOf(vertex, card)}`;
      group.classList.toggle("chosen", vertex.id === now.chosen);
      group.classList.toggle("faint", now.chosen !== null && !near.has(vertex.id));
    });
    memory.edges.forEach((edge, number) => {
      const ends = [memory.vertices[edge.from].id, memory.vertices[edge.to].id];
      edgeNodes[number].group.classList.toggle("faint", now.chosen !== null && !ends.includes(now.chosen));
    });
    placeSays();
  };

  // --- the selected element -----------------------------------------------------------------------------------------
  const drawCard = () => {
    const card = at("card"), vertex = memory.vertices.find((each) => each.id === now.chosen);
    card.replaceChildren();
    if (!vertex) {
      card.append(make("h2", {}, "Look around"), make("p", {}, "Choose a Concept to see it alone. Drag the ground to move, a Concept to place it, and turn the wheel to come closer."),
        make("p", {}, "AS OF goes through what the memory held, commit by commit. FOR TIME goes through the world, as it was believed then. The two are independent."));
      return;
    }
    const told = held(vertex.runs, now.state);
    card.append(make("h2", {}, nameOf(vertex, told)));
    card.append(make("p", { class: "kind" }, vertex.literal !== null ? "a value" : told ? `${told[0]} · ${vertex.id}` : `${vertex.id} · not there at this state`));
    const rows = make("dl");
    if (told && told[1] !== null) rows.append(make("dt", {}, "key"), make("dd", {}, told[1]));
    for (const [name, value] of told ? told[3] : []) rows.append(make("dt", {}, name), make("dd", {}, value));
    for (const slot of memory.slots) if (slot.subject === vertex.id) {
      const view = held(slot.runs, now.state);
      if (!view) continue;
      const cell = cellOf(view, now.time);
      rows.append(make("dt", {}, slot.predicate), make("dd", { class: cell.status }, cell.accepted.join(", ") || cell.status));
    }
    const back = make("button", { type: "button" }, "show all");
    back.addEventListener("click", () => choose(null));
    card.append(rows, make("p", {}, back));
  };

  // --- slots over time ----------------------------------------------------------------------------------------------
  const LEFT = 300, RIGHT = 130, ROW = 22, LINE = 1180;
  const across = (ms) => LEFT + ((Math.min(Math.max(ms, first), end) - first) / (end - first)) * (LINE - LEFT - RIGHT);
  const ticks = (() => {
    const span = end - first, day = 86400000, made = [];
    const days = [1, 7].find((each) => span / (each * day) <= 9);
    const months = [1, 3, 12, 60, 120, 1200].find((each) => span / (each * 30.44 * day) <= 9) || 12000;
    const start = new Date(first);
    const begin = Date.UTC(start.getUTCFullYear() - (months >= 12 ? start.getUTCFullYear() % (months / 12) : 0), months >= 12 ? 0 : start.getUTCMonth() - (start.getUTCMonth() % months));
    for (let n = 0; n < 400; n += 1) {
      const date = new Date(begin);
      const ms = days ? Math.ceil(first / day) * day + n * days * day : date.setUTCMonth(date.getUTCMonth() + n * months);
      if (ms >= end || made.length > 12) break;
      if (ms >= first) made.push(ms);
    }
    return made;
  })();
  const bar = (from, until, y, kind) => draw("rect", { x: across(from), y, width: Math.max(0, across(until) - across(from)), height: 10, rx: 2, class: kind });
  const drawSlot = (slot, view) => {
    const cell = cellOf(view, now.time), high = view.claims.length * ROW + 24;
    const time = draw("svg", { viewBox: `0 0 ${LINE} ${high}`, role: "img", "aria-label": `claims about ${slot.named} ${slot.predicate}` });
    for (const ms of ticks) time.append(draw("line", { class: "grid", x1: across(ms), x2: across(ms), y1: 0, y2: high - 18 }),
      draw("text", { class: "tick", x: across(ms), y: high - 4, "text-anchor": "middle" }, shown(ms).slice(0, 10)));
    view.claims.forEach((claim, number) => {
      const y = number * ROW + 4, [verdict, counts] = cell.verdicts[number] || ["", false];
      const against = claim.stance === "reject" ? "rejected" : counts ? "accepted" : "insufficient";
      const row = draw("g", { class: `${against}${counts ? "" : " mute"}` });
      const says = `${claim.stance === "support" ? "" : `${claim.stance} `}${claim.says}`;
      const [earliest, latest] = [claim.from[0] ?? first, claim.from[1] ?? first];
      const [ends, over] = [claim.until[0] ?? (claim.until[1] === null ? end : claim.until[1]), claim.until[1] ?? end];
      row.append(bar(earliest, over, y + 3, "maybe"), bar(latest, Math.max(latest, ends), y + 3, "bar"));
      const told = draw("title", {}, `${claim.id}: ${claim.mode}${claim.confidence === null ? "" : ` at ${claim.confidence}`}, said ${shown(claim.at)} by ${claim.who}`);
      row.append(told);
      time.append(draw("text", { x: 0, y: y + 12 }, short(says, 26), draw("tspan", { class: "who" }, `  ${short(claim.who, 16)}`)), row,
        draw("text", { class: "verdict", x: LINE - RIGHT + 8, y: y + 12 }, short(verdict.replaceAll("_", " "), 20)));
    });
    time.append(draw("line", { class: "now", x1: across(now.time), x2: across(now.time), y1: 0, y2: high - 16 }));
    const head = make("h3", {}, make("span", {}, slot.named), make("span", { class: "predicate" }, slot.predicate),
      make("span", { class: `chip ${cell.status}` }, cell.status), make("span", {}, cell.accepted.join(", ")), make("span", { class: "why" }, cell.why));
    return make("article", { class: "slot", "data-slot": `${slot.subject} ${slot.predicate}` }, head, time);
  };
  const MOST = 60;
  const drawSlots = () => {
    const word = at("find").value.trim().toLowerCase(), found = [];
    for (const slot of memory.slots) {
      const view = held(slot.runs, now.state);
      if (!view || (now.chosen !== null && slot.subject !== now.chosen)) continue;
      const text = [slot.named, slot.predicate, ...view.claims.flatMap((claim) => [claim.says, claim.who])].join(" ").toLowerCase();
      if (text.includes(word)) found.push([slot, view]);
    }
    at("slots").replaceChildren(...found.slice(0, MOST).map(([slot, view]) => drawSlot(slot, view)));
    at("found").textContent = `${found.length} ${found.length === 1 ? "slot" : "slots"}${found.length > MOST ? `, the first ${MOST} drawn` : ""}`;
  };

  // --- the two axes -------------------------------------------------------------------------------------------------
  const toSlider = (ms) => Math.round(((ms - first) / (end - first)) * 1000);
  const drawAll = () => {
    const [seq, when] = states[now.state];
    at("asof").value = now.state;
    at("asof-said").textContent = `commit ${seq} of ${states[last][0]}${when === null ? "" : `, ${shown(when)}`}`;
    at("asof-back").disabled = now.state === 0;
    at("asof-on").disabled = now.state === last;
    at("fortime").value = toSlider(now.time);
    at("fortime-said").textContent = `${shown(now.time)}${now.time === memory.now ? ", when this was exported" : ""}`;
    at("fortime-back").disabled = !steps.some((ms) => ms < now.time);
    at("fortime-on").disabled = now.time >= memory.now && !steps.some((ms) => ms > now.time);
    drawGraph(); drawCard(); drawSlots();
    const place = new URLSearchParams({ seq, time: new Date(now.time).toISOString(), ...(now.chosen === null ? {} : { select: now.chosen }) });
    history.replaceState(null, "", `#${place}`);
  };
  const choose = (id) => { now.chosen = id === now.chosen ? null : id; drawAll(); };
  const toState = (state) => { now.state = Math.min(last, Math.max(0, state)); drawAll(); };
  const toTime = (ms) => { now.time = ms; drawAll(); };
  at("asof").max = last;
  at("asof").addEventListener("input", (event) => toState(Number(event.target.value)));
  at("asof-back").addEventListener("click", () => toState(now.state - 1));
  at("asof-on").addEventListener("click", () => toState(now.state + 1));
  at("fortime").addEventListener("input", (event) => toTime(Math.round(first + (Number(event.target.value) / 1000) * (end - first))));
  at("fortime-back").addEventListener("click", () => toTime(steps.filter((ms) => ms < now.time).pop() ?? first));
  at("fortime-on").addEventListener("click", () => toTime(steps.find((ms) => ms > now.time) ?? memory.now));
  at("find").addEventListener("input", drawSlots);

  at("about").textContent = `${memory.space}, as ${memory.principal} sees it: ${memory.vertices.filter((each) => each.literal === null).length} Concepts, ${memory.edges.length} Propositions, ${memory.slots.length} slots.`;
  if (memory.cut.length) { at("cut").hidden = false; at("cut").textContent = `Not everything is here: ${memory.cut.join("; ")}.`; }
  const asked = new URLSearchParams(location.hash.slice(1));
  const seq = states.findIndex((state) => state[0] === Number(asked.get("seq")));
  if (asked.has("seq") && seq >= 0) now.state = seq;
  const time = Date.parse(asked.get("time"));
  if (!isNaN(time)) now.time = time;
  if (memory.vertices.some((each) => each.id === asked.get("select"))) now.chosen = asked.get("select");
  place(); frame(); drawAll();
})();
