// What was done and is not yet known to be stored. Each event also lies in the browser's own storage, under a key of its own, so that
// neither a lost connection, nor a reload, nor a crash loses it. Every report begins with the oldest, so that no single message
// matters. Python applies each event once.
//
// The windows of one browser share what is not stored. Each hears what is done in another one and shows it, and each reports what all
// have done, with the time of every event: Python applies them in that order, and the later one holds.

const PATIENCE = 4000; // how long an answer may take before the desk calls itself offline, in milliseconds
const EVENTS = 20; // how many events one report may hold, and how many characters; the rest follows in the next one
const CHARACTERS = 50000;
const PAUSE = 300; // how long after an answer it is reported, unless another one follows, in milliseconds
const OVERDUE = 2000; // how old an event may grow before it is reported without waiting for the next one

const random = () => crypto.getRandomValues(new Uint32Array(2)).join("-");

// An event as it lies in the storage; null for what is none.
const eventOf = (text) => {
  try {
    const event = JSON.parse(text);
    return Number.isInteger(event.n) && event.n > 0 && Number.isFinite(event.at) && event.item != null ? event : null;
  } catch {
    return null;
  }
};

class Outbox {
  // `heard` is called with each event of another window.
  constructor(desk, send, changed, heard) {
    Object.assign(this, { send, changed, heard });
    this.prefix = `concord ${desk} `;
    this.client = `${this.browser()}.${random()}`;
    this.windows = new Set(); // other windows of this browser at the same desk
    this.n = 0;
    this.at = 0;
    this.boxes = { [this.client]: [] }; // the events of each window, by its name
    this.k = 0;
    this.asked = null; // the report under way: its number and when it was sent
    this.soon = null; // the timer of the next report, as long as more is expected to go with it
    this.session = null; // the server's name for the present session
    this.stuck = false;
    this.once = false; // something was stored in this session
    this.signedOut = null; // the sentence that says so, as long as Python refuses reports because nobody is signed in
    this.forbidden = false; // the browser gave no storage, or it is full
    this.find();
    this.timer = setInterval(() => this.look(), 1000);
    this.off = new AbortController();
    const signal = this.off.signal;
    window.addEventListener("storage", (event) => this.other(event), { signal });
    window.addEventListener("pagehide", () => this.tell("closed"), { signal });
    window.addEventListener("pageshow", (event) => event.persisted && this.tell("opened"), { signal });
    this.channel = new BroadcastChannel(this.prefix);
    this.channel.onmessage = ({ data: { client, is } }) => {
      this.windows[is === "closed" ? "delete" : "add"](client);
      if (is === "opened") this.tell("open");
      this.changed();
    };
    this.tell("opened");
  }

  // Tell the other windows of this browser what this one is.
  tell(is) {
    this.channel.postMessage({ client: this.client, is });
  }

  // The browser's own name; the windows' names begin with it, so that they are not taken for other devices.
  browser() {
    try {
      return (localStorage["concord-browser"] ??= random());
    } catch {
      return random();
    }
  }

  close() {
    clearInterval(this.timer);
    clearTimeout(this.soon);
    this.off.abort();
    this.tell("closed");
    this.channel.close();
  }

  // What other windows of this browser, or this one before a crash, could not deliver.
  find() {
    try {
      for (const name of Object.keys(localStorage)) {
        const client = this.of(name);
        const event = client && eventOf(localStorage.getItem(name));
        if (event) this.put(client, event);
        else if (client) localStorage.removeItem(name); // no event of ours: it would never be stored
      }
    } catch {
      // A browser may forbid storage: then answers are safe as long as the page is open.
      this.forbidden = true;
    }
  }

  // The window whose event lies under a name in the storage; undefined for what is none of this desk's.
  of(name) {
    return name?.startsWith(this.prefix) ? /^(\S+) \d+$/.exec(name.slice(this.prefix.length))?.[1] : undefined;
  }

  put(client, event) {
    this.at = Math.max(this.at, event.at);
    const box = (this.boxes[client] ??= []);
    box.push(event);
    box.sort((a, b) => a.n - b.n);
  }

  // An entry that another window made, or removed because it is stored.
  other({ key, newValue, oldValue }) {
    const client = this.of(key);
    if (!client) return;
    const event = eventOf(newValue ?? oldValue);
    if (!event) return;
    const rest = (this.boxes[client] ?? []).filter(({ n }) => n !== event.n);
    this.boxes[client] = rest;
    if (newValue) {
      this.put(client, event);
      this.heard(event);
    } else this.once = true;
    this.changed();
  }

  // In the order in which they were done.
  get waiting() {
    return Object.values(this.boxes).flat().sort((a, b) => a.at - b.at);
  }

  get state() {
    if (this.waiting.length) return this.stuck || !navigator.onLine ? "offline" : "saving";
    return this.once ? "saved" : "ready";
  }

  // The same in words.
  get says() {
    if (this.signedOut && this.state === "offline") return this.forbidden ? t("Keep this page open") : t("Kept here, will be sent");
    const offline = this.forbidden ? t("Offline – keep this page open, will be sent") : t("Offline – kept here, will be sent");
    return { ready: "", saving: t("Saving…"), saved: t("Saved"), offline }[this.state];
  }

  // Later than everything that was done or heard of before, even where the clock was set back.
  add(done) {
    const event = { n: ++this.n, at: Math.max(this.at + 1, Date.now()), ...done };
    this.put(this.client, event);
    try {
      localStorage.setItem(`${this.prefix}${this.client} ${event.n}`, JSON.stringify(event));
    } catch {
      this.forbidden = true;
    }
    this.changed();
  }

  // Report after a pause, so that answers given in quick succession share a report.
  flushSoon(want) {
    this.want = want;
    clearTimeout(this.soon);
    this.soon = setTimeout(() => this.flush(), PAUSE);
  }

  // Whether something waits that no timer will report.
  get due() {
    return this.waiting.length > 0 && this.soon === null;
  }

  // Report, unless a report is under way: then everything new goes with the next one, which leaves as soon as that is answered.
  flush(want) {
    clearTimeout(this.soon);
    this.soon = null;
    if (want) this.want = want;
    if (this.asked && !this.stuck) return;
    this.asked = { k: ++this.k, at: performance.now() };
    this.send({ k: this.k, boxes: this.oldest(), want: this.want ?? [] });
  }

  // The events that were done first, by window: as many as one report may hold. Within a window they are the first ones, because
  // their times grow with their numbers.
  oldest() {
    const boxes = {};
    let events = 0;
    let characters = 0;
    for (const event of this.waiting) {
      characters += JSON.stringify(event).length;
      if (events && (events === EVENTS || characters > CHARACTERS)) break;
      events += 1;
      const [client] = Object.entries(this.boxes).find(([, box]) => box.includes(event));
      (boxes[client] ??= []).push(event);
    }
    return boxes;
  }

  // Python's answer. Returns whether the way is free for the next report.
  answered({ seen, marks, session }) {
    this.signedOut = null;
    for (const [client, n] of Object.entries(marks ?? {})) this.stored(client, n);
    // A new session follows a server that was started again: it never saw the report under way.
    const lost = session !== this.session;
    this.session = session;
    if (this.asked && (lost || seen === this.asked.k)) {
      this.asked = null;
      this.stuck = false;
    }
    this.changed();
    return !this.asked;
  }

  // Python takes nothing because nobody is signed in. All is kept, and reported again as after a lost connection.
  refused(sentence) {
    this.signedOut = sentence;
    this.stuck = true;
    this.changed();
  }

  // Whether answers would be lost if this page were closed or left.
  get risky() {
    return this.state === "offline" && (this.forbidden || !this.signedOut);
  }

  stored(client, mark) {
    const box = this.boxes[client] ?? [];
    this.boxes[client] = box.filter((event) => event.n > mark);
    this.once = true;
    try {
      for (const { n } of box) if (n <= mark) localStorage.removeItem(`${this.prefix}${client} ${n}`);
    } catch {
      // As above.
    }
  }

  look() {
    if (this.asked && performance.now() - this.asked.at >= PATIENCE) {
      this.stuck = true;
      this.changed();
      this.flush();
    } else if (this.waiting.some((event) => Date.now() - event.at > OVERDUE)) this.flush();
  }
}
