// Two replies to the same dialogue, or two dialogues, side by side, by nobody named: which is better?

const VERDICTS = { A: "A is better", B: "B is better", C: "a tie" };
const NONE = { verdict: null, strong: false, explanation: "" };

const pair = {
  keys: ["a", "b", "t", "n", "s", "g"],
  digits: true,
  parts: () => pair.questions.length,
  finished: (item) => item.skipped !== null || pair.questions.every((q) => item.answers[q.name]?.verdict),
  start: (item) => Math.max(0, pair.questions.findIndex((q) => !item.answers[q.name]?.verdict)),

  begin(fixed) {
    this.questions = fixed.questions;
    // A simulation shows every character as it was written; so does a dialogue, to whoever chose that at the desk.
    this.letters = !fixed.prosaic || fixed.letters;
    this.words = this.letters ? `text raw ${fixed.prosaic ? "prosaic" : ""}` : "text";
    this.skips = !!fixed.reasons;
    this.guided = !!fixed.guidelines;
    this.bar = [["note", "Note", "N"], this.skips && ["skip", "Skip", "S"], this.guided && ["guidelines", "Guidelines", "G"]].filter(Boolean);
    const strong = fixed.questions.some((q) => q.strength);
    this.help = [
      [["1", "A"], "the first one is better"],
      [["2", "B"], "the second one is better"],
      ...(strong ? [[["3", "4"], "the first, the second one is better by far"]] : []),
      [["0", "T"], "a tie"],
      ...(fixed.questions.length > 1 ? [[["↑", "↓"], "go to another question"]] : []),
      [["N"], "a note on why"],
      ...(this.skips ? [[["S"], "skip the pair, with a reason"]] : []),
      ...(this.guided ? [[["G"], "guidelines"]] : []),
    ];
  },

  effect(item, event) {
    if ("skipped" in event) return void (item.skipped = event.skipped);
    item.answers[event.criterion] = { verdict: event.verdict, strong: event.strong, explanation: event.comment };
    if (event.verdict) item.skipped = null;
  },

  event(item, name, changed) {
    const { verdict, strong, explanation } = item.answers[name] ?? NONE;
    return { item: item.id, ...item.about, criterion: name, verdict, strong, comment: explanation, ...changed };
  },

  prefer(line, verdict, strong = false, at = line.focus) {
    const { item } = line;
    const question = this.questions[at];
    if (verdict === "C" && !question.ties) return line.say("A tie is no answer to this question: one of the two must be better.", "bad");
    if (strong && !question.strength) return line.say("This question does not ask by how much one is better.", "bad");
    line.focus = at;
    const answer = this.event(item, question.name, { verdict, strong });
    const before = item.skipped === null ? this.event(item, question.name, {}) : this.skipping(item, item.skipped);
    line.answer(answer, before, `${question.label ? `${question.label}: ` : ""}${VERDICTS[verdict]}`);
  },

  press(name, line, dialogs) {
    if (name === "n") return this.note(line, dialogs);
    if (name === "s") return this.skip(line, dialogs);
    if (name === "g") return dialogs.guidelines();
    const verdict = { a: "A", b: "B", t: "C", 1: "A", 2: "B", 3: "A", 4: "B", 0: "C" }[name];
    if (verdict) this.prefer(line, verdict, name === "3" || name === "4");
    else line.say(`“${name}” is no answer to this question.`, "bad");
  },

  note(line, dialogs) {
    const { item } = line;
    const { name } = this.questions[line.focus];
    const { verdict, explanation } = item.answers[name] ?? NONE;
    note(dialogs, "Why?", explanation, (comment) => {
      if (!verdict) item.answers[name] = { ...NONE, explanation: comment };
      else line.record(this.event(item, name, { comment }));
      line.changed();
    });
  },

  skipping: (item, skipped) => ({ item: item.id, verdict: null, skipped }),

  skip(line, dialogs) {
    if (!this.skips) return;
    dialogs.skip();
  },

  skipped(line, reason) {
    line.answer(this.skipping(line.item, reason), this.skipping(line.item, line.item.skipped), "skipped");
  },

  draw(item, line, act) {
    const written = (text) => el("div", { class: this.words, dir: "auto" }, this.letters ? text : marked(text));
    const message = (m) => el("article", { class: `message ${m.reply ? "reply" : "user"}` },
      el("header", {}, m.speaker, el("span", { class: "turn" }, ` ${m.turn}`)), written(m.text));
    const side = (letter, what, inside, cut) => el("section", { class: "side", "data-verdict": letter, tabindex: 0, "aria-label": `${what} ${letter}` },
      el("header", {}, el("strong", {}, letter), cut && el("strong", { class: "cut" }, "cut off at the length limit")), inside);
    const words = (text) => text.trim() ? written(text) : el("div", { class: "text none" }, "(an empty reply)");
    const button = (q, at, verdict, strong, label, k) => el("button", {
      type: "button", class: "button verdict", "data-verdict": verdict, "data-at": at, "data-strong": strong,
      onclick: (event) => act("prefer", verdict, strong, at, event),
    }, `${label} `, key(k));
    const ask = (q, at) => el("div", { class: "asked", "data-at": at },
      q.label && el("p", { class: "statement" }, el("strong", {}, q.label), ` ${q.statement}`),
      el("div", { class: "verdicts", role: "group", "aria-label": q.label || "Which is better?" },
        q.strength && button(q, at, "A", true, "A by far", "3"), button(q, at, "A", false, "A is better", "1"),
        q.ties && button(q, at, "C", false, "A tie", "T"),
        button(q, at, "B", false, "B is better", "2"), q.strength && button(q, at, "B", true, "B by far", "4")));
    const sides = item.whole
      ? item.whole.map((said, i) => side("AB"[i], "Conversation", said.map(message)))
      : item.replies.map(({ text, cut }, i) => side("AB"[i], "Reply", words(text), cut));
    return {
      left: [item.title && el("div", { class: "about" }, el("h2", {}, item.title)),
        ...item.context.map(([heading, text]) => el("details", { class: "given", open: true }, el("summary", {}, heading), el("div", { class: "text raw prosaic", dir: "auto" }, text))),
        ...item.said.map(message)].filter(Boolean),
      right: [el("div", { class: "sides" }, sides), ...this.questions.map(ask), el("p", { class: "mine" })],
    };
  },

  // What was asked last is what matters: the dialogue is shown from its end.
  drawn(left) {
    left.scrollTo({ top: left.scrollHeight, behavior: "instant" });
  },

  refresh(item, line, root) {
    root.classList.toggle("whole", !!item.whole && !item.context.length);
    const answer = (at) => item.answers[this.questions[at].name] ?? NONE;
    for (const button of root.querySelectorAll(".verdict")) {
      const { verdict, strong } = answer(button.dataset.at);
      button.setAttribute("aria-pressed", button.dataset.verdict === verdict && (button.dataset.strong === "true") === strong);
    }
    for (const asked of root.querySelectorAll(".asked")) asked.classList.toggle("active", this.questions.length > 1 && +asked.dataset.at === line.focus);
    const { verdict, explanation } = answer(line.focus);
    for (const side of root.querySelectorAll(".side")) side.classList.toggle("better", side.dataset.verdict === verdict);
    const mine = root.querySelector(".mine");
    if (mine) mine.textContent = item.skipped !== null ? `skipped: ${item.skipped}` : explanation && `note: ${explanation}`;
  },

  act(name, rest, line, dialogs) {
    if (name === "prefer") return this.prefer(line, ...rest.slice(0, 3));
    if (name === "note") return this.note(line, dialogs);
    if (name === "skip") return this.skip(line, dialogs);
    if (name === "guidelines") return dialogs.guidelines();
  },

  bar: [],
  help: [],
  questions: [],
  letters: true,
  words: "",
};
