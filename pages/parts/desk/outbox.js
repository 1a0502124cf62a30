// What was done and is not yet known to be stored. It is kept in the browser's own storage, so that neither a lost connection, nor a
// reload, nor a crash loses an answer; and reported whole, so that no single message matters. Python applies each event once.

const PATIENCE = 4000;

class Outbox {
  constructor(desk, send, changed) {
    this.desk = desk;
    this.send = send;
    this.changed = changed;
    this.client = crypto.getRandomValues(new Uint32Array(3)).join("-");
    this.n = 0;
    this.boxes = this.leftBehind();
    this.boxes[this.client] = [];
    this.k = 0;
    this.asked = null; // the report under way: its number and when it was sent
    this.session = null; // the server's name for the present session
    this.stuck = false;
    this.once = false; // something was stored in this session
    this.timer = setInterval(() => this.look(), 1000);
  }

  close() {
    clearInterval(this.timer);
  }

  // What other windows of this browser, or this one before a crash, could not deliver.
  leftBehind() {
    const found = {};
    try {
      for (const name of Object.keys(localStorage)) {
        const prefix = `concord ${this.desk} `;
        if (name.startsWith(prefix)) found[name.slice(prefix.length)] = JSON.parse(localStorage.getItem(name));
      }
    } catch {
      // A browser may forbid storage: then answers are safe as long as the page is open.
    }
    return found;
  }

  keep(client) {
    const name = `concord ${this.desk} ${client}`;
    try {
      if (this.boxes[client].length) localStorage.setItem(name, JSON.stringify(this.boxes[client]));
      else localStorage.removeItem(name);
    } catch {
      // As above.
    }
  }

  get waiting() {
    return Object.values(this.boxes).flat();
  }

  get state() {
    if (this.waiting.length) return this.stuck || !navigator.onLine ? "offline" : "saving";
    return this.once ? "saved" : "ready";
  }

  add(event) {
    this.boxes[this.client].push({ n: ++this.n, ...event });
    this.keep(this.client);
    this.changed();
  }

  // Report, unless a report is under way: then everything new goes with the next one, which leaves as soon as that is answered.
  flush(want) {
    if (want) this.want = want;
    if (this.asked && !this.stuck) return;
    const boxes = Object.fromEntries(Object.entries(this.boxes).filter(([, events]) => events.length));
    this.asked = { k: ++this.k, at: performance.now() };
    this.send({ k: this.k, boxes, want: this.want ?? [] });
  }

  // Python's answer. Returns whether the way is free for the next report.
  answered({ seen, marks, session }) {
    for (const [client, n] of Object.entries(marks)) {
      if (!this.boxes[client]) continue;
      this.boxes[client] = this.boxes[client].filter((event) => event.n > n);
      this.keep(client);
      if (client !== this.client && !this.boxes[client].length) delete this.boxes[client];
      this.once = true;
    }
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

  look() {
    if (!this.asked || performance.now() - this.asked.at < PATIENCE) return;
    this.stuck = true;
    this.changed();
    this.flush();
  }
}
