// The items a person goes through, one after the other, and what was done with them; knows nothing of how they look.
// A kind (spot-check, pair, task) says what an answer does to an item and when an item is finished.

const KEPT = 80;

class Line {
  constructor(fixed, outbox, kind, clock, changed) {
    Object.assign(this, { fixed, outbox, kind, clock, changed });
    this.ids = []; // in the order they are shown
    this.past = new Set(); // settled, and not in memory: before this page was opened, or long ago
    this.items = new Map();
    this.passed = new Set(); // left for later
    this.at = undefined; // undefined before the first news, null at the end
    this.focus = 0;
    this.done = []; // what U takes back
    this.count = { left: 0, of: 0 };
    this.said = null;
    this.closed = null;
    this.drafts = new Map(); // words that were typed and are not kept yet
    this.trying = null; // what is not shown as done before Python has taken it
    this.reading = READING;
    this.pace = null; // { items, seconds } of today
  }

  get language() {
    return languageOf(this.reading, this.fixed.words);
  }

  get item() {
    return this.items.get(this.at);
  }

  // What the dialogs of the desk call the questions; `focus` is the place of the marked one.
  get criteria() {
    return this.kind.questions ?? [];
  }

  get loading() {
    return this.at != null && !this.item;
  }

  // -- news from Python

  receive(news) {
    if (news.signed_out) return this.outbox.refused(news.signed_out);
    if (news.closed) {
      this.closed = news.closed;
      return this.changed("item");
    }
    const free = this.outbox.answered(news);
    for (const refusal of news.refused) this.refuse(refusal);
    if (this.at === undefined) {
      this.ids = [...news.past];
      this.past = new Set(news.past);
    }
    const known = new Set(this.ids);
    this.ids.push(...news.line.filter((id) => !known.has(id)));
    this.count = news.count;
    this.pace = news.pace;
    if (news.reading) this.read(news.reading);
    this.ids = this.ids.filter((id) => !news.gone.includes(id));
    const arrived = news.items.some((item) => item.id === this.at && !this.items.has(item.id));
    for (const item of news.items) this.items.set(item.id, item);
    for (const event of this.outbox.waiting) this.effect(event);
    if (this.at === undefined) this.go(news.first ?? this.next(-1));
    else if (this.at === null && this.next(-1) !== null && !this.passed.size) this.go(this.next(-1));
    else if (arrived) this.arrive();
    else if (news.gone.includes(this.at)) this.go(this.next(-1));
    if (this.trying && !this.outbox.waiting.some((event) => event.item === this.trying.event.item)) this.kept();
    const want = this.wanted();
    if (free && (this.outbox.waiting.length || this.needed(want))) this.outbox.flush(want);
    this.changed();
  }

  // What was not kept is shown again as it stands in the store, with the reason; what lies ahead may have changed as well.
  refuse({ item, message }) {
    this.outbox.once = false; // nothing of it was saved
    this.done = this.done.filter((entry) => entry.item !== item);
    if (this.trying?.event.item === item) {
      this.trying.refused(message);
      this.trying = null;
    }
    if (this.ids.includes(item)) this.at = item;
    for (const id of this.items.keys()) if (id === item || (id !== this.at && this.open(id))) this.items.delete(id);
    this.say(t("Not kept: {message}", { message }), "bad");
    this.changed("item");
  }

  wanted() {
    const from = this.ids.indexOf(this.at);
    const order = [this.at, this.ids[from - 1], ...this.ids.slice(from + 1).filter((id) => this.open(id)).slice(0, this.fixed.ahead)];
    return order.filter((id) => id != null && !this.items.has(id));
  }

  needed(want) {
    return want.length > this.fixed.ahead / 2 || want.includes(this.at) || want.includes(this.next());
  }

  // -- moving

  open(id) {
    const item = this.items.get(id);
    return !this.passed.has(id) && !(item ? this.kind.finished(item) : this.past.has(id));
  }

  next(from = this.ids.indexOf(this.at)) {
    const ahead = this.ids.slice(from + 1).find((id) => this.open(id));
    return ahead ?? this.ids.slice(0, Math.max(0, from)).find((id) => this.open(id)) ?? null;
  }

  go(id) {
    this.leave();
    this.at = id;
    if (this.item) this.arrive();
    else this.changed("item");
    const want = this.wanted();
    if (this.needed(want)) this.outbox.flush(want);
  }

  // The time at work on an item is kept also where nothing was answered.
  leave() {
    const seconds = this.fixed.timed && this.item ? this.clock.take() : 0;
    if (seconds >= 0.5) this.outbox.add({ item: this.at, seconds });
  }

  arrive() {
    this.focus = this.kind.start(this.item);
    this.clock.take();
    this.clock.run(true);
    for (const id of this.items.keys()) {
      if (this.items.size <= KEPT) break;
      if (id === this.at || this.open(id)) continue;
      if (this.kind.finished(this.items.get(id))) this.past.add(id);
      this.items.delete(id);
    }
    this.changed("item");
  }

  step(by) {
    if (this.at === null) return by < 0 && this.ids.length ? this.go(this.ids.at(-1)) : undefined;
    const there = this.ids[this.ids.indexOf(this.at) + by];
    if (there != null) return this.go(there);
    if (by > 0) return this.go(this.next());
    this.say(t("This is the first item."));
  }

  // On to the next one; this one stays open.
  pass() {
    if (this.item && !this.kind.finished(this.item)) this.passed.add(this.at);
    this.go(this.next());
  }

  // -- doing

  record(event) {
    const seconds = this.fixed.timed && event.item === this.at ? { seconds: this.clock.take() } : {};
    this.effect(event);
    this.outbox.add({ ...event, ...seconds });
    this.outbox.flush(this.wanted());
  }

  // What an event changes here; doing it twice does no more than once.
  effect(event) {
    if (event.do === "reading") return this.read(JSON.parse(event.text));
    const item = this.items.get(event.item);
    if (item) this.kind.effect(item, event);
  }

  // Answer, with the event that takes it back; the next item is shown at once when this one is finished.
  answer(event, back, what) {
    this.said = null;
    this.passed.delete(event.item);
    this.done.push({ item: event.item, focus: this.focus, back, what });
    this.record(event);
    if (this.kind.finished(this.item)) this.go(this.next());
    else {
      this.focus = this.kind.start(this.item);
      this.changed();
    }
  }

  // The same with words that may be refused: nothing moves until that is known, and `over` or `refused` is called then.
  attempt(event, back, what, over, refused) {
    this.said = null;
    this.trying = { event, back, what, over, refused };
    this.outbox.add(event);
    this.outbox.flush(this.wanted());
  }

  kept() {
    const { event, back, what, over } = this.trying;
    this.trying = null;
    this.passed.delete(event.item);
    this.done.push({ item: event.item, focus: 0, back, what });
    this.effect(event);
    over();
    if (this.at === event.item) this.go(this.next());
  }

  // What the dialog that asks for a reason calls.
  skip(reason) {
    this.kind.skipped(this, reason);
  }

  // What the dialog that asks for a comment calls.
  flag(text) {
    this.kind.flagged(this, text);
  }

  read(reading) {
    const redraw = reading.letters !== this.reading.letters;
    this.reading = reading;
    this.changed(redraw ? "letters" : "");
  }

  // Kept with an annotator, on every device; with others as long as the page is open.
  readAs(change) {
    const event = { item: 0, do: "reading", text: JSON.stringify({ ...this.reading, ...change }) };
    this.effect(event);
    if (!this.fixed.words) return;
    this.outbox.add(event);
    this.outbox.flushSoon(this.wanted());
  }

  undo() {
    const last = this.done.pop();
    if (!last) return this.say(t("Nothing to undo."));
    this.record(last.back);
    this.go(last.item);
    this.focus = last.focus;
    this.say(t("Undone: {what}.", { what: last.what }));
  }

  look(by) {
    if (!this.item) return;
    this.focus = Math.max(0, Math.min(this.kind.parts(this.item) - 1, this.focus + by));
    this.changed();
  }

  say(text, kind = "") {
    this.said = { text, kind };
    this.changed();
  }
}
