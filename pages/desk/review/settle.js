// Criteria of one item, with what others answered: an adjudicator settles each with a reason, an annotator revises or keeps their own.

const settle = {
  keys: ["n", "k"],
  text: "t",

  parts: (item) => item.questions.length,
  finished: (item) => item.questions.every((q) => q.value !== null),
  start: (item) => Math.max(0, item.questions.findIndex((q) => q.value === null)),

  effect(item, event) {
    const question = item.questions.find((q) => q.criterion === event.criterion);
    if (question) Object.assign(question, { value: event.score, reason: event.reason });
  },

  event: (item, q, changed) => ({ item: item.id, criterion: q.criterion, score: q.value, reason: q.reason, ...changed }),

  // An answer in the words of its question.
  word: (q, score) => q.options.find((o) => o.value === score)?.word ?? String(score),

  give(line, score, reason, index = line.focus) {
    const { item } = line;
    const q = item.questions[index];
    line.focus = index;
    line.answer(this.event(item, q, { score, reason }), this.event(item, q, {}), t("the answer to “{name}”", { name: q.label }));
  },

  // A settled score has a reason: it is asked for before the score is kept. A revised one may have one.
  choose(line, score, dialogs, index = line.focus) {
    const q = line.item.questions[index];
    line.focus = index;
    if (!line.fixed.reasoned) return this.give(line, score, q.reason, index);
    note(dialogs, t("Why {score} for “{name}”?", { score: this.word(q, score), name: q.label }), q.reason, (reason) =>
      reason ? this.give(line, score, reason, index) : line.say(t("Not settled: a settled score has a reason."), "bad"));
    line.changed();
  },

  press(name, line, dialogs) {
    const q = line.item.questions[line.focus];
    if (name === "n") return this.note(line, dialogs);
    if (name === "k") return this.keep(line);
    const option = q.options.find((o) => o.key === name);
    if (option) this.choose(line, option.value, dialogs);
    else line.say(t("“{key}” is no answer to this question.", { key: name }), "bad");
  },

  keep(line) {
    const q = line.item.questions[line.focus];
    if (q.own === null) return line.say(t("There is no answer of yours to keep."), "bad");
    this.give(line, q.own, q.reason);
  },

  note(line, dialogs) {
    const { item } = line;
    const q = item.questions[line.focus];
    if (q.value === null) return line.say(t("Choose the score first."), "bad");
    note(dialogs, t("Why {score} for “{name}”?", { score: this.word(q, q.value), name: q.label }), q.reason, (reason) => {
      if (reason || !line.fixed.reasoned) line.record(this.event(item, q, { reason }));
      line.changed();
    });
  },

  get help() {
    return [
      [["1", "…", "0"], t("answer the marked question")],
      [["K"], t("keep your own answer")],
      [["↑", "↓"], t("go to another question")],
      [["N"], t("change the reason")],
    ];
  },

  draw(item, line, act) {
    const { letters } = line.reading;
    const written = (text) => el("div", { class: letters ? "text raw prosaic" : "text", dir: "auto" }, letters ? text : marked(text));
    const said = item.said.map((m) => el("article", { class: `message ${m.reply ? "reply" : "user"} ${item.turn === m.turn && m.reply ? "rated" : ""}` },
      el("header", {}, t(m.speaker), el("span", { class: "turn" }, ` ${m.turn}`), item.turn === m.turn && m.reply && el("strong", { class: "this" }, t("This turn is rated"))),
      m.text.trim() ? written(m.text) : el("div", { class: "text none" }, t("(an empty reply)"))));
    const cards = item.context.map(([heading, text]) => el("details", { class: "given" }, el("summary", {}, heading), written(text)));
    return { left: [...cards, ...said], right: item.questions.map((q, i) => this.card(q, i, act)) };
  },

  card(q, i, act) {
    return el("article", { class: "judged", "data-index": i, onclick: () => act("focus", i) },
      el("header", {}, el("span", { class: "judge" }, q.label), el("span", { class: "score" }, el("small", {}, q.score))),
      el("p", { class: "hint" }, q.statement),
      q.said.map(([score, text]) => el("div", { class: "reasons raw", dir: "auto" }, el("strong", {}, `${score}: `), text)),
      el("div", { class: "scores", role: "group", "aria-label": q.label }, q.options.map((o) =>
        el("button", { type: "button", class: "give", "data-value": o.value, onclick: (event) => { event.stopPropagation(); act("choose", o.value, i, event); } },
          key(o.key), ` ${o.shown === o.label ? o.label : `${o.shown} · ${o.label}`}`, o.by && el("span", { class: "by" }, o.by)))),
      q.own !== null && el("button", { type: "button", class: "button", onclick: (event) => { event.stopPropagation(); act("keep", i, event); } }, `${t("Keep mine")} `, key("K")),
      el("p", { class: "mine" }));
  },

  drawn(left) {
    left.querySelector(".rated")?.scrollIntoView({ block: "nearest" });
  },

  refresh(item, line, root) {
    for (const card of root.querySelectorAll(".judged")) {
      const q = item.questions[+card.dataset.index];
      const active = line.focus === +card.dataset.index;
      if (active && !card.classList.contains("active")) card.scrollIntoView({ block: "nearest" });
      card.classList.toggle("active", active);
      card.classList.toggle("answered", q.value !== null);
      for (const button of card.querySelectorAll(".give")) button.setAttribute("aria-pressed", button.dataset.value === String(q.value));
      card.querySelector(".mine").textContent = q.value === null ? "" : [this.word(q, q.value), q.reason].filter(Boolean).join(": ");
    }
  },

  act(name, rest, line, dialogs) {
    if (name === "choose") return this.choose(line, rest[0], dialogs, rest[1]);
    if (name === "note") return this.note(line, dialogs);
    if (name === "keep") return (line.focus = rest[0]), this.keep(line);
  },

  get bar() {
    return [["note", t("Reason"), "N"]];
  },
};

// Others' answers without their names, and what is said of them: one may comment, or go on.
const discuss = {
  ...settle,
  keys: ["n", "k"],
  parts: () => 1,
  finished: (item) => item.comment !== null,
  start: () => 0,
  effect: (item, event) => (item.comment = event.text),
  press: (name, line, dialogs) => discuss.act(name === "n" ? "note" : "none", [], line, dialogs),

  give(line, text) {
    const { item } = line;
    line.answer({ item: item.id, text }, { item: item.id, text: item.comment }, text ? t("the comment") : t("no comment"));
  },

  get help() {
    return [[["N"], t("write a comment for the others")], [["K"], t("no comment: go on")]];
  },

  draw(item, line, act) {
    const { left, right } = settle.draw(item, line, act);
    const said = item.said_of_it.map(([letter, text]) => el("div", { class: "reasons raw", dir: "auto" }, el("strong", {}, `${letter}: `), text));
    return { left, right: [...right, el("article", { class: "judged active" }, el("header", {}, el("span", { class: "judge" }, t("Comments"))), said, el("p", { class: "mine" }))] };
  },

  refresh(item, line, root) {
    for (const card of root.querySelectorAll(".judged")) card.classList.add("active");
    [...root.querySelectorAll(".judged .mine")].at(-1).textContent = item.comment ? t("you: {text}", { text: item.comment }) : item.comment === "" ? t("no comment") : "";
  },

  act(name, rest, line, dialogs) {
    if (name === "none") return this.give(line, "");
    if (name === "note") return note(dialogs, t("Comment for the others"), line.item.comment ?? "", (text) => this.give(line, text));
  },

  get bar() {
    return [["note", t("Comment"), "N"], ["none", t("No comment"), "K"]];
  },
};
