// Two replies to the same dialogue, or two dialogues, side by side, by nobody named: which is better?

const VERDICTS = { A: () => t("A is better"), B: () => t("B is better"), C: () => t("A tie") };
const NONE = { verdict: null, strong: false, explanation: "" };

const pair = {
  keys: ["a", "b", "t", "n", "s", "f", "g"],
  text: "x", // T is a tie here
  digits: true,
  parts: () => pair.questions.length,
  finished: (item) => item.skipped !== null || pair.questions.every((q) => item.answers[q.name]?.verdict),
  start: (item) => Math.max(0, pair.questions.findIndex((q) => !item.answers[q.name]?.verdict)),

  begin(fixed) {
    this.questions = fixed.questions;
    this.prosaic = fixed.prosaic;
    this.dealt = !!fixed.reasons; // a pair that was dealt can be skipped and flagged
    this.guided = !!fixed.guidelines;
    this.bar = [["note", t("Note"), "N"], this.dealt && ["skip", t("Skip"), "S"], this.dealt && ["flag", t("Flag"), "F"],
      this.guided && ["guidelines", t("Guidelines"), "G"]].filter(Boolean);
    const strong = fixed.questions.some((q) => q.strength);
    this.help = [
      [["1", "A"], t("the first one is better")],
      [["2", "B"], t("the second one is better")],
      ...(strong ? [[["3", "4"], t("the first, the second one is better by far")]] : []),
      [["0", "T"], t("a tie")],
      ...(fixed.questions.length > 1 ? [[["↑", "↓"], t("go to another question")]] : []),
      [["N"], t("a note on why")],
      ...(this.dealt ? [[["S"], t("skip the item, with a reason")], [["F"], t("flag the item with a comment for the researcher; it quotes words selected in the dialogue")]] : []),
      ...(this.guided ? [[["G"], t("guidelines")]] : []),
    ];
  },

  effect(item, event) {
    if ("skipped" in event) item.skipped = event.skipped;
    else if ("flag" in event) item.flag = event.flag;
    else if ("verdict" in event) {
      item.answers[event.criterion] = { verdict: event.verdict, strong: event.strong, explanation: event.comment };
      if (event.verdict) item.skipped = null;
    }
  },

  event(item, name, changed) {
    const { verdict, strong, explanation } = item.answers[name] ?? NONE;
    return { item: item.id, ...item.about, criterion: name, verdict, strong, comment: explanation, ...changed };
  },

  prefer(line, verdict, strong = false, at = line.focus) {
    const { item } = line;
    const question = this.questions[at];
    if (verdict === "C" && !question.ties) return line.say(t("A tie is no answer to this question: one of the two must be better."), "bad");
    if (strong && !question.strength) return line.say(t("This question does not ask by how much one is better."), "bad");
    line.focus = at;
    const answer = this.event(item, question.name, { verdict, strong });
    const before = item.skipped === null ? this.event(item, question.name, {}) : this.skipping(item, item.skipped);
    line.answer(answer, before, `${question.label ? `${question.label}: ` : ""}${VERDICTS[verdict]()}`);
  },

  press(name, line, dialogs) {
    if (name === "n") return this.note(line, dialogs);
    if (name === "s") return this.skip(line, dialogs);
    if (name === "f") return this.act("flag", [], line, dialogs);
    if (name === "g") return dialogs.guidelines();
    const verdict = { a: "A", b: "B", t: "C", 1: "A", 2: "B", 3: "A", 4: "B", 0: "C" }[name];
    if (verdict) this.prefer(line, verdict, name === "3" || name === "4");
    else line.say(t("“{key}” is no answer to this question.", { key: name }), "bad");
  },

  note(line, dialogs) {
    const { item } = line;
    const { name } = this.questions[line.focus];
    const { verdict, explanation } = item.answers[name] ?? NONE;
    note(dialogs, t("Why?"), explanation, (comment) => {
      if (!verdict) item.answers[name] = { ...NONE, explanation: comment };
      else line.record(this.event(item, name, { comment }));
      line.changed();
    });
  },

  skipping: (item, skipped) => ({ item: item.id, skipped }),

  skip(line, dialogs) {
    if (!this.dealt) return;
    dialogs.skip();
  },

  skipped(line, reason) {
    line.answer(this.skipping(line.item, reason), this.skipping(line.item, line.item.skipped), t("skipping"));
  },

  flagged(line, text) {
    const { item } = line;
    if (item.flag === text) return;
    line.done.push({ item: item.id, focus: line.focus, back: { item: item.id, flag: item.flag }, what: t("the flag") });
    line.record({ item: item.id, flag: text });
    line.say(text ? t("Flagged for the researcher.") : t("The flag is taken away."));
  },

  draw(item, line, act) {
    // A simulation shows every character as it was written; so does a dialogue, to whoever chose that.
    const letters = !this.prosaic || line.reading.letters;
    const words = letters ? `text raw ${this.prosaic ? "prosaic" : ""}` : "text";
    const written = (text) => el("div", { class: words, dir: "auto" }, letters ? text : marked(text));
    const message = (m) => el("article", { "data-turn": m.turn, class: `message ${m.reply ? "reply" : "user"}` },
      el("header", {}, t(m.speaker), el("span", { class: "turn" }, ` ${m.turn}`)), written(m.text));
    const side = (letter, what, inside, cut) => el("section", { class: "side", "data-verdict": letter, tabindex: 0, "aria-label": `${what} ${letter}` },
      el("header", {}, el("strong", {}, letter), cut && el("strong", { class: "cut" }, t("cut off at the length limit"))), inside);
    const said = (text) => text.trim() ? written(text) : el("div", { class: "text none" }, t("(an empty reply)"));
    const button = (q, at, verdict, strong, label, k) => el("button", {
      type: "button", class: "button verdict", "data-verdict": verdict, "data-at": at, "data-strong": strong,
      onclick: (event) => act("prefer", verdict, strong, at, event),
    }, `${label} `, key(k));
    const ask = (q, at) => el("div", { class: "asked", "data-at": at },
      q.label && el("p", { class: "statement", dir: "auto" }, el("strong", {}, q.label), ` ${q.statement}`),
      el("div", { class: "verdicts", role: "group", "aria-label": q.label || t("Which is better?") },
        q.strength && button(q, at, "A", true, t("A by far"), "3"), button(q, at, "A", false, VERDICTS.A(), "1"),
        q.ties && button(q, at, "C", false, VERDICTS.C(), "T"),
        button(q, at, "B", false, VERDICTS.B(), "2"), q.strength && button(q, at, "B", true, t("B by far"), "4")));
    const sides = item.whole
      ? item.whole.map((messages, i) => side("AB"[i], t("Dialogue"), messages.map(message)))
      : item.replies.map(({ text, cut }, i) => side("AB"[i], t("Reply"), said(text), cut));
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
    const told = [item.skipped !== null && `${t("skipped")}: ${t(item.skipped)}`, explanation && `${t("note")}: ${explanation}`, item.flag && `${t("flagged")}: ${item.flag}`];
    if (mine) mine.textContent = told.filter(Boolean).join(" · ");
  },

  act(name, rest, line, dialogs, root) {
    if (name === "prefer") return this.prefer(line, ...rest.slice(0, 3));
    if (name === "note") return this.note(line, dialogs);
    if (name === "skip") return this.skip(line, dialogs);
    if (name === "flag") return this.dealt && dialogs.flag(quoted(dialogs.root));
    if (name === "guidelines") return dialogs.guidelines();
  },

  bar: [],
  help: [],
  questions: [],
};
