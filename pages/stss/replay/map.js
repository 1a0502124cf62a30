// The town as a map that people move on: it measures in pixels, so that dots and words stay readable at every width.

const SVG = "http://www.w3.org/2000/svg";
const SHAPES = { performer: "M0-8 8 0 0 8-8 0Z", counted: "M-6 0a6 6 0 1 0 12 0a6 6 0 1 0-12 0", "came close": "M0-7 7 6-7 6Z", others: "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0" };
const TURN = Math.PI * (3 - Math.sqrt(5)); // each further one of a crowd is turned by this angle, so that no two meet
const NAMED = 3; // so many of a crowd are written out; the rest are a number
const LINE = 14; // pixels of a line of names

const meet = ([a, b, c, d], [x1, y1, x2, y2]) => x2 > a && x1 < c && y2 > b && y1 < d;

function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) if (value != null && value !== false) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

const glyph = (part) => svg("svg", { class: "glyph", viewBox: "-9 -9 18 18", "aria-hidden": "true" }, svg("path", { d: SHAPES[part], "data-part": part }));

class TownMap {
  constructor(replay, act) {
    Object.assign(this, { replay, act });
    this.ground = svg("g");
    this.crowd = svg("g");
    this.node = svg("svg", { class: "map", role: "img", "aria-label": "Map of the town" }, this.ground, this.crowd);
    this.dots = new Map();
    for (const person of [...replay.people].reverse()) {
      const name = svg("text", { class: "name", dy: "0.35em" });
      const group = svg("g", { class: "person", "data-part": person.part },
        svg("circle", { class: "follow", r: 13 }), svg("circle", { class: "ring", r: 11 }), svg("path", { d: SHAPES[person.part], "data-part": person.part }), name);
      group.addEventListener("click", (event) => (event.stopPropagation(), act.follow(person.name)));
      this.crowd.append(group);
      this.dots.set(person.name, { group, name, x: null, y: null });
    }
    this.node.addEventListener("click", () => act.place(null));
  }

  // The ground for a width: sectors where the town has them, boxes and words in pixels.
  measure(width) {
    const { sectors, doors } = this.replay.ground;
    const small = width < 520;
    this.width = width;
    this.height = small ? Math.round(width * 1.3) : Math.max(440, Math.min(640, Math.round(width * 0.92)));
    this.gap = small ? 11 : 16;
    this.beside = small ? 10 : 12;
    const [left, right, top, bottom] = small ? [26, 34, 18, 30] : [44, 64, 24, 36];
    const ends = (values) => [Math.min(...values), Math.max(...values)];
    const [west, east] = ends(sectors.map((s) => s.x));
    const [south, north] = ends(sectors.map((s) => s.y));
    const scale = (value, from, to, a, b) => (to !== from ? a + ((value - from) / (to - from)) * (b - a) : (a + b) / 2);
    this.boxes = sectors.map((s) => {
      const columns = Math.ceil(Math.sqrt(s.arenas.length));
      const rows = Math.ceil(s.arenas.length / columns);
      const box = { x: scale(s.x, west, east, left, width - right), y: scale(s.y, north, south, top, this.height - bottom), w: columns * this.gap + 6, h: rows * this.gap + 6 };
      box.arenas = s.arenas.map((_, i) => [box.x + ((i % columns) - (columns - 1) / 2) * this.gap, box.y + (Math.floor(i / columns) - (rows - 1) / 2) * this.gap]);
      return box;
    });
    this.node.setAttribute("viewBox", `0 0 ${width} ${this.height}`);
    this.node.setAttribute("height", this.height);
    this.labels = sectors.map((s, i) => svg("text", { class: s.here ? "label here" : "label", x: this.boxes[i].x, "text-anchor": "middle" }, s.name));
    this.ground.replaceChildren(
      ...doors.map(([a, b]) => svg("line", { class: "door", x1: this.boxes[a].x, y1: this.boxes[a].y, x2: this.boxes[b].x, y2: this.boxes[b].y })),
      ...sectors.map((s, i) => this.sector(s, this.boxes[i], i)),
      ...this.labels,
    );
    this.write(small);
    for (const dot of this.dots.values()) dot.x = null;
  }

  sector(s, box, number) {
    const group = svg("g", { class: s.here ? "sector here" : "sector" }, svg("title", {}, `${s.name}: ${s.arenas.join(", ")}`),
      svg("rect", { x: box.x - box.w / 2, y: box.y - box.h / 2, width: box.w, height: box.h, rx: 4 }),
      ...box.arenas.map(([x, y]) => svg("rect", { class: "arena", x: x - 2.5, y: y - 2.5, width: 5, height: 5 })));
    group.addEventListener("click", (event) => (event.stopPropagation(), this.act.place(number)));
    return group;
  }

  // Names of places where there is room: those of the task first, then those where most of life takes place. The others have theirs when touched.
  write(small) {
    const taken = this.boxes.map((b) => [b.x - b.w / 2, b.y - b.h / 2, b.x + b.w / 2, b.y + b.h / 2]);
    const high = small ? 11 : 12;
    const { sectors } = this.replay.ground;
    this.written = [];
    const order = sectors.map((_, i) => i).sort((a, b) => sectors[b].here - sectors[a].here || sectors[b].spent - sectors[a].spent);
    for (const i of order) {
      const box = this.boxes[i];
      const wide = this.labels[i].getComputedTextLength() / 2 + 2;
      const x = Math.max(wide, Math.min(this.width - wide, box.x));
      const spots = [box.y + box.h / 2 + 1, box.y - box.h / 2 - high - 1].map((y) => [x - wide, y, x + wide, y + high]);
      const clear = ([x1, y1, x2, y2]) => y1 >= 0 && y2 <= this.height && taken.every(([a, b, c, d]) => x2 <= a || x1 >= c || y2 <= b || y1 >= d);
      const free = spots.find(clear);
      this.labels[i].setAttribute("x", x);
      this.labels[i].setAttribute("y", (free ?? spots[0])[1] + high - 3);
      this.labels[i].classList.toggle("crowded", !free && !sectors[i].here);
      this.written[i] = free ?? spots[0];
      if (free) taken.push(free);
    }
  }

  named(number) {
    this.labels.forEach((label, i) => label.classList.toggle("named", i === number));
  }

  // Where everybody stands at a moment: in their arena, the performer in the middle of a crowd.
  spots(moment) {
    const crowds = new Map();
    const found = new Map();
    for (const person of this.replay.people) {
      const room = this.replay.at(person, moment)?.room;
      if (!room) continue;
      const [x, y] = this.boxes[room[0]].arenas[room[1]];
      const n = crowds.get(`${room}`) ?? 0;
      crowds.set(`${room}`, n + 1);
      const away = this.beside * Math.sqrt(n);
      found.set(person.name, [x + away * Math.cos(TURN * n), y + away * Math.sin(TURN * n)]);
    }
    return found;
  }

  // What changes with the moment only: who is asleep, talks, and whose names stand where.
  settle(moment, followed) {
    const rooms = new Map();
    for (const person of this.replay.people) {
      const { group, name } = this.dots.get(person.name);
      const now = this.replay.at(person, moment);
      group.classList.toggle("gone", !now?.room);
      group.classList.toggle("asleep", now?.kind === "asleep");
      group.classList.toggle("talking", now?.kind === "conversation" || now?.talk !== undefined);
      group.classList.toggle("followed", person.name === followed);
      name.textContent = "";
      if (now?.room) rooms.set(`${now.room}`, [...(rooms.get(`${now.room}`) ?? []), person.name]);
    }
    const spots = this.spots(moment);
    this.clear(this.name([...rooms.values()], spots, followed));
    [this.here, this.next] = [spots, this.spots(Math.min(moment + 1, this.replay.last))];
  }

  // Names beside each crowd where no other crowd's stand, those of the one followed first; without room they are read in the list only.
  name(crowds, spots, followed) {
    const taken = [];
    for (const names of crowds.sort((a, b) => b.includes(followed) - a.includes(followed))) {
      const { name } = this.dots.get(names[0]);
      const first = names.map((n) => n.split(" ")[0]);
      const away = 11 + (names.length > 1 ? this.beside * Math.sqrt(names.length - 1) : 0);
      name.textContent = first.slice(0, NAMED).join(", ") + (names.length > NAMED ? ` +${names.length - NAMED}` : "");
      const [x, y] = spots.get(names[0]);
      const wide = name.getComputedTextLength();
      const right = { x: away, from: x + away, anchor: "start" };
      const left = { x: -away, from: x - away - wide, anchor: "end" };
      const spot = [0, LINE, -LINE, 2 * LINE, -2 * LINE]
        .flatMap((y) => [right, left].map((side) => ({ ...side, y })))
        .map((s) => ({ ...s, box: [s.from, y + s.y - LINE / 2, s.from + wide, y + s.y + LINE / 2] }))
        .find(({ box: [x1, y1, x2, y2] }) => x1 >= 0 && x2 <= this.width && y1 >= 0 && y2 <= this.height && taken.every((box) => !meet(box, [x1, y1, x2, y2])));
      if (!spot) {
        name.textContent = "";
        continue;
      }
      name.setAttribute("x", spot.x);
      name.setAttribute("y", spot.y);
      name.setAttribute("text-anchor", spot.anchor);
      taken.push(spot.box);
    }
    return taken;
  }

  // Names of people hide those of places that they would lie upon.
  clear(over) {
    this.labels.forEach((label, i) => label.classList.toggle("under", over.some((box) => meet(box, this.written[i]))));
  }

  // One picture: everybody a little nearer to where they should be. True while somebody is still on the way there.
  move(share, at_once) {
    let moving = false;
    for (const [name, dot] of this.dots) {
      const from = this.here.get(name);
      if (!from) {
        dot.x = null;
        continue;
      }
      const to = this.next.get(name) ?? from;
      const [x, y] = [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share];
      const part = dot.x === null || at_once ? 1 : 0.22;
      const off = Math.hypot(x - (dot.x ?? x), y - (dot.y ?? y));
      dot.x = off < 0.3 ? x : (dot.x ?? x) + (x - (dot.x ?? x)) * part;
      dot.y = off < 0.3 ? y : (dot.y ?? y) + (y - (dot.y ?? y)) * part;
      moving ||= off >= 0.3 && part < 1;
      dot.group.setAttribute("transform", `translate(${dot.x.toFixed(1)} ${dot.y.toFixed(1)})`);
    }
    return moving;
  }
}
