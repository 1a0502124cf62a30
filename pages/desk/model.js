// What lies on the desk and what was done with it; knows nothing of how it looks.

const HELD = 2000; // how long keys pressed while an item is on its way are kept for it, in milliseconds
const CACHED = 60;
const WANTED = 40; // items asked for at a time

// Whether an answer to a question is one that something depends on.
const meets = ({ values, below, above }, { sets }, answer) => {
  if (answer == null) return false;
  if (values.length) return values.some((value) => value === answer || (sets && (answer & value) > 0));
  return (below == null || answer < below) && (above == null || answer > above);
};

class Model {
  constructor(fixed, outbox, clock, changed) {
    Object.assign(this, { fixed, outbox, clock, changed });
    this.purpose = PURPOSES[fixed.purpose] ?? {}; // what is its own
    this.criteria = fixed.criteria; // of the item that was shown last
    this.strip = []; // [id, state, flagged] in the annotator's order
    this.items = new Map();
    this.at = undefined; // undefined before the first news, null when nothing is left
    this.shown = undefined; // the item that was seen last
    this.focus = 0; // the criterion the next digit answers; criteria.length = all answered, Enter submits
    this.done = []; // what U takes back
    this.said = null; // a notice: { text, kind }
    this.reading = readingKept();
    this.held = []; // keys pressed while the item is on its way
    this.heldSince = 0;
    this.finished = null; // the completion code of a crowd platform and where it leads, once all is done
    this.others = false; // somebody was at this desk on another device a short while ago
    this.elsewhere = false; // somebody is there now
    this.before = null; // when each device had reported last as this desk was opened here
    this.stale = false; // the present item may have changed there
    this.notes = {}; // why items were skipped, and comments on them: id → [reason, comment]
    this.pace = null; // the seconds that an item mostly takes here; null where that is not known yet
    this.begun = 0; // the question that was marked when the present item was shown
    this.closed = null;
    this.training = null; // { attempt, left, over } before the training is passed
    this.asked = new Set(); // submitted here: whether their known answers are to be shown is not known yet
    this.due = []; // items whose known answers have arrived and were not seen
    this.beyond = { done: 0, all: 0 }; // items that are not in the strip
  }

  get language() {
    return languageOf(this.reading, this.fixed.words);
  }

  get item() {
    return this.items.get(this.at);
  }

  // Whether the known answers of the present item are shown, which locks those given.
  get locked() {
    return this.told(this.item);
  }

  told(item) {
    return Object.keys(item?.told ?? {}).length > 0;
  }

  get loading() {
    return this.at != null && !this.item;
  }

  entry(id = this.at) {
    return this.strip.find(([other]) => other === id);
  }

  get position() {
    return this.strip.findIndex(([id]) => id === this.at);
  }

  count(state) {
    return this.strip.filter(([, s]) => s === state).length;
  }

  get finishedHere() {
    return this.strip.length - this.count("open");
  }

  // How many items are done or skipped, of how many.
  get tally() {
    return { done: this.finishedHere + this.beyond.done, all: this.strip.length + this.beyond.all };
  }

  // About how long the open items take, in minutes; null where that is not known.
  get minutesLeft() {
    const open = this.tally.all - this.tally.done;
    return this.pace && open ? Math.max(1, Math.round((open * this.pace) / 60)) : null;
  }

  // The items of the same dialogue that lie here, in the order of their turns, where its replies are rated one by one: [turn, item].
  get siblings() {
    const { item } = this;
    if (item?.turn == null || item.sides) return [];
    const words = JSON.stringify(item.said);
    const same = (id) => this.items.get(id)?.turn != null && JSON.stringify(this.items.get(id).said) === words;
    const line = [item];
    for (const by of [-1, 1])
      for (let place = this.position + by; this.strip[place] && same(this.strip[place][0]); place += by) line.push(this.items.get(this.strip[place][0]));
    return line.map((one) => [one.turn, one]).sort(([a], [b]) => a - b);
  }

  // Some questions are asked of some items only, and some items have questions of their own. One that depends on others is asked where
  // these are asked and have such an answer.
  asks(criterion, item = this.item, decided = new Map()) {
    if (item?.asks && !item.asks.includes(criterion?.name)) return false;
    if (decided.has(criterion)) return decided.get(criterion);
    const criteria = item?.questions ?? this.fixed.criteria;
    const asked = Object.entries(criterion?.when ?? {}).every(([name, condition]) => {
      const other = criteria.find((one) => one.name === name);
      return other && this.asks(other, item, decided) && meets(condition, other, item?.answers[name]);
    });
    decided.set(criterion, asked);
    return asked;
  }

  // What stands between an item and its submission: answers, or the words that must stand beside one.
  missing(item = this.item) {
    const criteria = item?.questions ?? this.fixed.criteria;
    return criteria.filter((c) => this.asks(c, item) && (item?.answers[c.name] == null ? c.required : this.unsaid(c, item)));
  }

  unsaid(criterion, item = this.item) {
    return !!criterion && this.explained(criterion, item) && !item?.reasons[criterion.name]; // no question: the next item has fewer
  }

  // Whether words must stand beside the answer.
  explained(criterion, item = this.item) {
    return criterion.reason === "required" || (!!criterion.explain && meets(criterion.explain, criterion, item?.answers[criterion.name]));
  }

  // The next question in a direction that is asked of this item; criteria.length after the last one, where Enter submits.
  beside(index, by) {
    let next = index + by;
    while (next >= 0 && next < this.criteria.length && !this.asks(this.criteria[next])) next += by;
    const outside = next < 0 || (next >= this.criteria.length && !this.fixed.submits);
    return outside ? index : Math.min(next, this.criteria.length);
  }

  // -- news from Python

  receive(news) {
    if (news.signed_out) return this.outbox.refused(news.signed_out);
    if (news.closed) {
      this.outbox.answered(news);
      this.closed = news.closed;
      return this.changed("all");
    }
    if (this.closed) this.changed("item");
    this.closed = null;
    const free = this.outbox.answered(news);
    if (news.unreadable) this.say(news.unreadable, "bad");
    for (const { item, message } of news.refused) {
      this.outbox.once = false; // nothing of it was saved
      this.say(t("Not saved: {message}", { message }), "bad");
      this.items.delete(item);
      this.asked.delete(item);
      this.done = this.done.filter((entry) => entry.item !== item);
      if (item === this.shown) this.shown = undefined;
    }
    this.strip = news.strip;
    this.notes = news.notes ?? {};
    this.pace = news.pace ?? null;
    const { done, all } = news.count ?? { done: this.finishedHere, all: this.strip.length };
    this.beyond = { done: done - this.finishedHere, all: all - this.strip.length };
    if (this.training && !news.training) this.say(t("The training is over. The study begins with the next item."));
    this.training = news.training;
    if (news.finished?.code !== this.finished?.code) this.changed("item"); // the end shows it
    this.finished = news.finished;
    this.before ??= news.elsewhere;
    const [browser] = this.outbox.client.split(".");
    const others = Object.entries(news.elsewhere).filter(([client]) => client.split(".")[0] !== browser);
    this.others = others.length > 0;
    this.elsewhere = others.some(([client, at]) => this.before[client] !== at);
    for (const item of news.items) {
      this.items.set(item.id, item);
      if (item.state === "open" || !this.asked.delete(item.id) || !this.told(item)) continue;
      this.done = this.done.filter((entry) => entry.item !== item.id);
      if (item.id === this.at) this.shown = undefined;
      else this.due.push(item.id);
    }
    for (const id of this.asked) if (!this.entry(id)) this.asked.delete(id);
    for (const event of this.outbox.waiting) this.effect(event);
    this.compare(news.items);
    const lost = this.at != null && !this.entry(); // taken back by the researcher
    if (this.at === undefined || lost || (this.at === null && this.count("open"))) this.go(this.nextOpen(-1));
    else if (this.at === null && this.due.length) this.go(null);
    else if (this.item && this.shown !== this.at) this.arrive();
    const want = this.wanted();
    if (free && (this.outbox.due || this.needed(want))) this.outbox.flush(want);
    this.changed();
  }

  // What was submitted, skipped or opened on another device is asked for again; it may have other answers.
  compare(arrived) {
    for (const [id, state] of this.strip) {
      if (!this.items.has(id) || this.items.get(id).state === state) continue;
      if (id === this.at) this.stale = true;
      else this.items.delete(id);
    }
    if (!arrived.some(({ id }) => id === this.at)) return;
    this.stale = false;
    if (this.focus === this.begun) this.begin();
  }

  // The present item, the next ones in the order Enter takes, the one before; without those that are here.
  wanted() {
    const order = [this.at, this.strip[this.position + 1]?.[0], this.strip[this.position - 1]?.[0]];
    let id = this.at;
    for (let i = 0; i < this.fixed.ahead && id != null; i++) order.push((id = this.nextOpen(this.indexOf(id))));
    const lacking = (id) => id != null && (!this.items.has(id) || (id === this.at && this.stale));
    return [...new Set([...this.asked, ...order.filter(lacking)])].slice(0, WANTED);
  }

  // Whether it is time to ask for more: something is missing that could be looked at after the next key or two.
  needed(want) {
    return this.asked.size > 0 || want.length > this.fixed.ahead / 2 || want.includes(this.at) || want.includes(this.nextOpen(this.position));
  }

  indexOf(id) {
    return this.strip.findIndex(([other]) => other === id);
  }

  // The next open item after a position, else the first before it, else null.
  nextOpen(position) {
    const open = ([id, state], i) => state === "open" && i !== position;
    const found = this.strip.slice(position + 1).find((entry) => entry[1] === "open") ?? this.strip.find(open);
    return found ? found[0] : null;
  }

  // -- moving

  // An item whose known answers have arrived is shown once more before any other one, but never in place of the present one: a key
  // that is meant for what is in sight must not meet another item.
  go(id) {
    id = this.due.shift() ?? id;
    this.leave();
    this.at = id;
    this.shown = undefined;
    this.held = [];
    this.stale = this.others && !!this.item;
    if (this.item) this.arrive();
    else {
      this.clock.run(false);
      this.changed("item");
    }
    const want = this.wanted();
    if (this.needed(want)) this.outbox.flush(want);
  }

  arrive() {
    this.shown = this.at;
    this.criteria = this.item.questions ?? this.fixed.criteria;
    this.begin();
    // The newest at the end: the oldest are let go, but never what lies ahead.
    const item = this.item;
    this.items.delete(this.at);
    this.items.set(this.at, item);
    const ahead = new Set([this.at, this.nextOpen(this.position)]);
    for (const id of this.items.keys()) {
      if (this.items.size <= CACHED) break;
      if (!ahead.has(id) && this.entry(id)?.[1] !== "open") this.items.delete(id);
    }
    this.clock.take();
    this.clock.run(true);
    this.changed("item");
    this.release();
  }

  // Mark the first question without an answer.
  begin() {
    const first = this.criteria.findIndex((c) => this.asks(c) && (this.item.answers[c.name] == null || this.unsaid(c)));
    this.begun = this.focus = first >= 0 ? first : this.fixed.submits ? this.criteria.length : this.beside(-1, 1);
  }

  leave() {
    const seconds = this.item && this.clock.take();
    if (seconds >= 0.5) this.outbox.add({ item: this.at, do: "time", seconds });
  }

  step(by) {
    if (this.at === null) return by < 0 && this.strip.length ? this.go(this.strip.at(-1)[0]) : undefined;
    const next = this.strip[this.position + by];
    if (next) this.go(next[0]);
    else if (by > 0 && !this.count("open")) this.go(null);
    else this.say(by < 0 ? t("This is the first item.") : t("This is the last item."));
  }

  look(by) {
    this.focus = this.beside(this.focus, by);
    this.changed();
  }

  // -- doing

  record(event) {
    const whole = { ...event, seconds: event.item === this.at ? this.clock.take() : 0 };
    this.effect(whole);
    this.outbox.add(whole);
    // Another answer or the submission mostly follows an answer.
    if (event.do === "answer") this.outbox.flushSoon(this.wanted());
    else this.outbox.flush(this.wanted());
  }

  // How somebody wants to read is kept in this browser.
  readAs(change) {
    this.reading = { ...this.reading, ...change };
    keepReading(this.reading);
    this.changed("letters" in change ? "letters" : "");
  }

  // What an event changes here; doing it twice does no more than once.
  effect(event) {
    const item = this.items.get(event.item);
    const entry = this.entry(event.item);
    const state = { submit: "done", skip: "skipped", reopen: "open" }[event.do];
    if (event.do === "answer") {
      if (item && event.score == null) delete item.answers[event.criterion], delete item.reasons[event.criterion];
      else if (item) (item.answers[event.criterion] = event.score), (item.reasons[event.criterion] = event.text ?? "");
      if (!this.fixed.submits && item) this.setState(item, entry, this.missing(item).length ? "open" : "done");
      else if (entry?.[1] === "done") {
        if (item) this.dropUnasked(item);
        if (event.score == null || (item && this.missing(item).length)) this.setState(item, entry, "open");
      }
      if (item && event.item === this.at) this.refocus();
    } else if (event.do === "flag") {
      if (item) item.flag = event.text;
      if (entry) entry[2] = event.text ? 1 : 0;
    } else if (state) {
      if (item && state === "done") this.dropUnasked(item);
      this.setState(item, entry, state);
      if (item) item.reason = event.text ?? "";
    }
  }

  // Answers to questions that are not asked, after the others, are not submitted; until then they are there again when they are.
  dropUnasked(item) {
    for (const criterion of item.questions ?? this.fixed.criteria)
      if (!this.asks(criterion, item)) delete item.answers[criterion.name], delete item.reasons[criterion.name];
  }

  // A question that is not asked any more is not the marked one.
  refocus() {
    if (this.focus < this.criteria.length && !this.asks(this.criteria[this.focus])) this.focus = this.beside(this.focus, 1);
  }

  setState(item, entry, state) {
    if (item) item.state = state;
    if (entry) entry[1] = state;
  }

  // With `stays` somebody is still at this question, as with the keys of a slider.
  answer(index, given, stays = false) {
    const item = this.item;
    const criterion = this.criteria[index];
    const old = item.answers[criterion.name] ?? null;
    const { next } = widget(criterion);
    const value = next ? next(old, given) : given;
    const text = item.reasons[criterion.name] ?? "";
    const event = { item: item.id, do: "answer", criterion: criterion.name, score: value, text };
    this.said = null;
    this.focus = index;
    if (this.fixed.together && criterion.reason === "required" && !text) {
      this.effect(event); // the answer waits for its words, and is kept with them
      return this.changed();
    }
    this.change(event, old, text, index);
    // One that must have a reason stays marked until it has one.
    if (this.fixed.submits) this.focus = stays || next || this.unsaid(criterion) ? index : this.beside(index, 1);
    else if (!next && !stays) this.onward();
    this.changed();
  }

  // An answer that is made of words: what was marked in the reply, or the reply as it should be ("" with 0: nothing, as it is). What
  // score they make is computed where they are kept.
  compose(index, score, text) {
    const { item } = this;
    const { name } = this.criteria[index];
    this.said = null;
    const old = item.answers[name] ?? null;
    const before = item.reasons[name] ?? "";
    this.focus = index;
    const event = { item: item.id, do: "answer", criterion: name, score, text };
    if (old === null || (score === 0 ? old !== 0 : before !== text)) {
      this.record(event);
      this.done.push({ item: item.id, focus: index, back: [{ ...event, score: old, text: old === 0 ? "" : before }], what: t("the answer to “{name}”", { name: this.criteria[index].label }) });
    }
    this.changed();
  }

  // The ranks of the sides of an item, 0 where there is none yet: an answer once each has one.
  order(index, ranks) {
    const { item } = this;
    const { name } = this.criteria[index];
    item.drafts ??= {};
    if (!ranks.includes(0)) {
      delete item.drafts[name];
      this.answer(index, Number(ranks.map((rank) => 1 + ranks.filter((other) => other < rank).length).join("")));
    } else {
      // The order that was given holds until another one is whole, or all ranks are taken back.
      item.drafts[name] = ranks;
      if (item.answers[name] != null && ranks.every((rank) => rank === 0)) this.answer(index, null);
    }
    this.focus = index;
    this.changed();
  }

  // Record an answer. The same one is recorded again: on another device, another one may have been given since.
  change(event, old, text, focus) {
    this.record(event);
    if (old === event.score) return;
    const back = { ...event, score: old, text };
    this.done.push({ item: event.item, focus, back: [back], what: t("the answer to “{name}”", { name: this.criteria[focus].label }) });
  }

  // Without a submission an item ends with its last answer.
  onward() {
    if (this.missing().length) this.begin();
    else this.go(this.nextOpen(this.position));
  }

  // Words beside an answer; they are kept with it, or wait for it. `over` once somebody has finished writing.
  reason(index, text, over = false) {
    const { item, fixed } = this;
    const { name, options, reason } = this.criteria[index];
    const old = item.answers[name] ?? null;
    const before = item.reasons[name] ?? "";
    const done = item.state === "done";
    const words = text.trim();
    const waits = fixed.together && reason === "required";
    const score = old ?? (over && words && options.length === 1 ? options[0].value : null);
    if (before !== words || (old === null && score !== null)) {
      if (score === null || (waits && !words)) item.reasons[name] = score === null ? words : before;
      else this.change({ item: item.id, do: "answer", criterion: name, score, text: words }, waits && !before ? null : old, before, index);
      if (done && item.state === "open") this.say(t("This answer needs a reason. The item is open again."), "bad");
    }
    if (over && score !== null && !fixed.submits) this.onward();
    this.changed();
  }

  submit() {
    const item = this.item;
    const missing = this.missing();
    const next = this.nextOpen(this.position);
    if (!this.fixed.submits && (next !== null || !missing.length)) return this.go(next);
    const here = this.criteria[this.focus];
    // An answer that is never over until somebody says so.
    if (missing.length && here && widget(here).next && !missing.includes(here)) return this.look(1);
    if (missing.length) {
      this.focus = this.criteria.indexOf(missing[0]);
      return this.say(t("Still to answer: {names}.", { names: missing.map((c) => c.label).join(", ") }), "bad");
    }
    this.said = null;
    if (item.state !== "done") {
      if (this.training) this.asked.add(item.id);
      else this.done.push({ item: item.id, focus: this.criteria.length, back: [this.back(item)], what: t("submitting") });
      this.record({ item: item.id, do: "submit" });
      if (this.training) return this.changed();
    }
    this.go(next);
  }

  skip(reason) {
    const item = this.item;
    this.done.push({ item: item.id, focus: this.focus, back: [this.back(item)], what: t("skipping") });
    this.record({ item: item.id, do: "skip", text: reason });
    this.said = null;
    this.go(this.nextOpen(this.position));
  }

  flag(text) {
    const item = this.item;
    if (item.flag === text) return;
    this.done.push({ item: item.id, focus: this.focus, back: [{ item: item.id, do: "flag", text: item.flag }], what: t("the flag") });
    this.record({ item: item.id, do: "flag", text });
    this.say(text ? t("Flagged for the researcher.") : t("Flag removed."));
  }

  // The event that brings an item's present state back.
  back(item) {
    if (item.state === "done") return { item: item.id, do: "submit" };
    if (item.state === "skipped") return { item: item.id, do: "skip", text: item.reason };
    return { item: item.id, do: "reopen" };
  }

  undo() {
    const last = this.done.pop();
    if (!last) return this.say(t("Nothing to undo."));
    if (this.at !== last.item) this.due.unshift(last.item), this.go();
    for (const event of last.back) this.record(event), delete this.items.get(event.item)?.drafts;
    this.focus = last.focus;
    this.say(t("Undone: {what} (item {number}).", { what: last.what, number: this.indexOf(last.item) + 1 }));
  }

  // -- keys pressed while the item is still on its way

  hold(press) {
    if (!this.held.length) this.heldSince = performance.now();
    this.held.push(press);
  }

  release() {
    const held = this.held.splice(0);
    if (!held.length) return;
    if (performance.now() - this.heldSince > HELD) return this.say(t("This item loaded slowly. Keys that you pressed before it appeared were ignored."), "bad");
    for (const press of held) press();
  }

  say(text, kind = "") {
    this.said = { text, kind };
    this.changed();
  }
}
