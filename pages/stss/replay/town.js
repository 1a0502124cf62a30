// Putting it together: a clock that runs, the time line with its marks, the map, who does what, and one resident's day.

const SPEEDS = [1, 4, 16];
const PACE = 5; // minutes of the town in a second, at 1×
const NIGHT = 8; // so many times faster while everybody sleeps
const SHOWN = { event: "the event begins", counted: "counted", "came close": "came close", talk: "talk about the task" };

class Town {
  constructor(root, told) {
    this.replay = new Replay(told.replay);
    this.id = told.id;
    this.bus = globalThis.concordTown ??= {};
    const { replay } = this;
    this.minute = replay.opens;
    this.moment = null;
    this.followed = replay.people[0];
    this.speed = SPEEDS[1];
    this.still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const act = { go: (minute) => this.go(minute), follow: (name) => this.follow(name), place: (number) => this.place(number) };
    this.map = replay.ground && new TownMap(replay, act);
    this.day = new Day(replay, act);
    this.controls();
    this.people();
    this.note = el("p", { class: "note", "aria-live": "off" });
    root.replaceChildren(this.top, el("div", { class: "scene" }, this.map ? el("div", { class: "stage" }, this.map.node, this.note) : this.note, this.list), this.day.node);
    this.place(null);
    this.watch = new ResizeObserver(([entry]) => this.measure(entry.contentRect.width));
    if (this.map) this.watch.observe(this.map.node.parentElement);
    this.bus.receive = (news) => news.id === this.id && this.told(news);
    if (this.bus.news) this.bus.receive(this.bus.news);
    // A part of Streamlit's own keys (R, C) must not be reached from here.
    root.onkeydown = (event) => this.key(event);
    this.draw();
  }

  close() {
    this.stop();
    this.watch.disconnect();
    clearTimeout(this.soon);
    delete this.bus.receive;
    if (this.bus.news?.id === this.id) delete this.bus.news;
  }

  controls() {
    const { replay } = this;
    const button = (name, sign, does) => el("button", { type: "button", class: "button sign", title: name, "aria-label": name, onclick: does }, sign);
    this.play = button("Play", "play_arrow", () => (this.playing ? this.stop() : this.start()));
    this.play.classList.add("play");
    this.time = el("strong", { class: "time" });
    this.speeds = el("span", { class: "speeds", role: "group", "aria-label": "Speed" }, SPEEDS.map((speed) =>
      el("button", { type: "button", class: "button", title: `${PACE * speed} minutes of the town a second`, onclick: () => this.pace(speed) }, `${speed}×`)));
    this.slider = el("input", { type: "range", min: 0, max: replay.last, step: 1, "aria-label": "Town time", oninput: () => this.go(replay.minutes[this.slider.value]) });
    const share = (minute) => `${(100 * (minute - replay.minutes[0])) / Math.max(1, replay.minutes[replay.last] - replay.minutes[0])}%`;
    const width = (from, to) => `${(100 * (to - from)) / Math.max(1, replay.minutes[replay.last] - replay.minutes[0])}%`;
    const marks = new Map();
    for (const mark of replay.marks) {
      const lane = mark.kind === "talk" ? "talk" : "event";
      const key = `${lane} ${mark.minute}`;
      marks.set(key, [...(marks.get(key) ?? []), mark]);
    }
    const track = el("div", { class: "marks" },
      replay.windows.map(([from, to]) => el("span", { class: "window", style: `left: ${share(from)}; width: ${width(from, to)}` })),
      replay.days.slice(1).map((_, i) => el("span", { class: "midnight", style: `left: ${share(1440 * (i + 1))}` })),
      replay.days.map((day, i) => el("span", { class: "date", style: `left: ${share(Math.max(1440 * i, replay.minutes[0]))}` }, day.name)),
      [...marks.values()].map((some) => {
        // What counted is seen before what came close to it.
        const kind = some.find((m) => m.kind === "counted")?.kind ?? some.at(-1).kind;
        const words = `${replay.says(some[0].minute)}: ${some.map((m) => (m.who ? `${m.who}: ${m.what}` : m.what)).join("; ")}`;
        return el("button", { type: "button", class: "mark", "data-kind": kind, style: `left: ${share(some[0].minute)}`, title: words, "aria-label": words, tabindex: -1, onclick: () => this.go(some[0].minute, some[0].who) });
      }));
    this.top = el("div", { class: "controls" },
      el("div", { class: "row" },
        button("Previous event", "skip_previous", () => this.jump(-1)), button("A step back", "chevron_left", () => this.step(-1)), this.play,
        button("A step on", "chevron_right", () => this.step(1)), button("Next event", "skip_next", () => this.jump(1)), this.speeds, this.time),
      this.slider, track,
      el("div", { class: "key" }, Object.entries(SHOWN).filter(([kind]) => replay.marks.some((m) => m.kind === kind)).map(([kind, words]) => el("span", {}, el("i", { class: "mark", "data-kind": kind }), words))));
    this.pace(this.speed);
  }

  people() {
    this.rows = this.replay.people.map((person) => {
      const does = el("span", { class: "does" });
      const where = el("span", { class: "where" });
      const read = el("button", { type: "button", class: "read", hidden: true, onclick: () => this.read(this.replay.at(person, this.moment).talk) }, "Read what is said");
      const row = el("li", { "data-part": person.part },
        el("button", { type: "button", class: "who", "aria-pressed": "false", onclick: () => this.follow(person.name) },
          glyph(person.part), el("span", { class: "lines" }, el("span", { class: "name" }, person.name, el("small", {}, person.part === "others" ? "" : person.part)), does, where)), read);
      return { person, row, does, where, read };
    });
    this.list = el("ul", { class: "people", "aria-label": "Who is where" }, this.rows.map(({ row }) => row));
  }

  measure(width) {
    if (width && width !== this.map.width) {
      this.map.measure(width);
      this.map.named(this.shown);
      this.moment = null;
      this.draw();
    }
  }

  // -- the clock

  start() {
    if (this.minute >= this.replay.minutes[this.replay.last]) this.minute = this.replay.minutes[0];
    this.playing = true;
    this.then = null;
    this.pressed("Pause", "pause");
    this.draw();
  }

  stop() {
    if (!this.playing) return;
    this.playing = false;
    this.minute = this.replay.minutes[this.replay.moment(this.minute)];
    this.pressed("Play", "play_arrow");
    this.draw();
    this.report();
  }

  pressed(name, sign) {
    this.play.textContent = sign;
    this.play.title = name;
    this.play.setAttribute("aria-label", name);
  }

  pace(speed) {
    this.speed = speed;
    [...this.speeds.children].forEach((b, i) => b.setAttribute("aria-pressed", SPEEDS[i] === speed));
  }

  // To a minute, and to somebody, if they are named.
  go(minute, who) {
    const { replay } = this;
    this.minute = replay.minutes[replay.moment(minute)];
    const person = replay.people.find((p) => p.name === who);
    if (person) this.followed = person;
    this.drawn = null;
    this.draw();
    this.report();
  }

  step(by) {
    const { replay } = this;
    this.go(replay.minutes[Math.max(0, Math.min(replay.last, replay.moment(this.minute) + by))]);
  }

  jump(by) {
    const { replay } = this;
    const now = replay.moment(this.minute);
    const to = by > 0 ? replay.stops.find((stop) => stop > now) : replay.stops.findLast((stop) => stop < now);
    if (to !== undefined) this.go(replay.minutes[to]);
  }

  follow(name) {
    this.go(this.minute, name);
  }

  key(event) {
    event.stopPropagation();
    if (event.key === " " && event.target === this.slider) {
      event.preventDefault();
      this.play.click();
    }
  }

  // A conversation is opened below by Python; as soon as it is there, it is brought into sight.
  read(number) {
    this.bus.talk?.(number);
    const since = performance.now();
    const look = () => {
      const there = document.querySelector(`.st-key-town-talk-${number}`);
      if (there) there.scrollIntoView({ block: "center", behavior: this.still ? "auto" : "smooth" });
      else if (performance.now() - since < 5000) setTimeout(look, 100);
    };
    look();
  }

  // Where to begin, which counts once; and where to go, each time anew.
  told({ at, resident, go }) {
    const { replay } = this;
    if (!this.begun) {
      this.begun = true;
      this.minute = replay.read(at) ?? replay.opens;
      this.followed = replay.people.find((p) => p.name === resident) ?? this.followed;
      this.draw();
    }
    if (!go || go.n === this.bus.went) return;
    this.bus.went = go.n;
    this.go(replay.read(go.at) ?? this.minute, go.resident);
    this.top.scrollIntoView({ block: "start", behavior: this.still ? "auto" : "smooth" });
  }

  // What the address is to say, once one has come to rest. It is changed here, so that it makes no step of the browser's history,
  // and told to Python, which keeps it.
  report() {
    clearTimeout(this.soon);
    this.soon = setTimeout(() => {
      if (this.playing) return;
      const shown = { at: this.replay.written(this.minute), resident: this.followed.name };
      const address = new URL(location.href);
      for (const [name, value] of Object.entries(shown)) address.searchParams.set(name, value);
      history.replaceState(history.state, "", address);
      this.bus.send?.({ id: this.id, ...shown });
    }, 400);
  }

  // -- drawing

  draw() {
    if (!this.due) this.due = requestAnimationFrame((now) => ((this.due = 0), this.frame(now)));
  }

  frame(now) {
    const { replay } = this;
    if (this.playing) {
      const seconds = Math.min(0.1, (now - (this.then ?? now)) / 1000);
      this.then = now;
      this.minute += seconds * PACE * this.speed * (replay.asleep(replay.moment(this.minute)) ? NIGHT : 1);
      if (this.minute >= replay.minutes[replay.last]) {
        this.minute = replay.minutes[replay.last];
        this.stop();
      }
    }
    const moment = replay.moment(this.minute);
    const day = Math.min(replay.days.length - 1, Math.floor(this.minute / 1440));
    const drawn = `${this.followed.name} ${day}`;
    if (this.drawn !== drawn) {
      this.drawn = drawn;
      this.moment = null;
      this.day.draw(this.followed, day);
    }
    if (this.moment !== moment) this.settle(moment);
    this.day.at(this.minute);
    let moving = false;
    if (this.map?.width) {
      const from = replay.minutes[moment];
      const until = replay.minutes[Math.min(moment + 1, replay.last)];
      moving = this.map.move(until > from ? Math.min(1, (this.minute - from) / (until - from)) : 0, this.still);
    }
    if (this.playing || moving) this.draw();
  }

  settle(moment) {
    const { replay } = this;
    this.moment = moment;
    const minute = replay.minutes[moment];
    this.time.textContent = replay.says(minute);
    this.slider.value = moment;
    this.slider.style.setProperty("--at", `${(100 * moment) / Math.max(1, replay.last)}%`);
    this.slider.setAttribute("aria-valuetext", replay.says(minute));
    if (this.map?.width) this.map.settle(moment, this.followed.name);
    for (const { person, row, does, where, read } of this.rows) {
      const now = replay.at(person, moment);
      const here = person === this.followed;
      row.classList.toggle("followed", here);
      row.firstChild.setAttribute("aria-pressed", here);
      row.dataset.kind = now?.kind ?? "";
      does.textContent = now ? now.action : "not recorded";
      where.textContent = now ? `${now.place.split(":").slice(0, 2).join(", ")} · since ${replay.day(now.since) === replay.day(minute) ? "" : `${replay.day(now.since).name}, `}${clockTime(now.since)}` : "";
      read.hidden = now?.talk === undefined;
    }
    if (this.shown != null) this.place(this.shown);
  }

  // A place by its number, named and told below the map; null for none.
  place(number) {
    this.shown = number;
    if (this.map?.labels) this.map.named(number);
    if (!this.map) return void (this.note.textContent = "The file of this town is not at hand, so that there is no map.");
    if (number === null) {
      const off = this.replay.people.filter((p) => this.moment != null && this.replay.at(p, this.moment) && !this.replay.at(p, this.moment).room);
      this.note.textContent = off.length ? `At places that the map does not have: ${off.map((p) => p.name).join(", ")}.`
        : "Ring: in conversation. Faint: asleep. Dashed: where the task is to be done. Choose a place for its name, a person for their day.";
      return;
    }
    const { name, kind, arenas } = this.replay.ground.sectors[number];
    const here = this.replay.people.filter((p) => this.moment != null && this.replay.at(p, this.moment)?.room?.[0] === number).map((p) => p.name);
    this.note.textContent = `${name}${kind ? ` (${kind})` : ""}: ${arenas.join(", ")}. ${here.length ? `Here: ${here.join(", ")}.` : "Nobody is here."}`;
  }
}

const towns = new WeakMap();

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".town");
  let town = towns.get(root);
  if (town && town.id !== data.id) {
    town.close();
    town = null;
  }
  if (!town) {
    town = new Town(root, data);
    towns.set(root, town);
  }
  const call = (town.call = {});
  return () => {
    // Streamlit also cleans up after a call that a later one has overtaken: only the last one ends the town.
    if (town.call !== call) return;
    town.close();
    towns.delete(root);
  };
}
