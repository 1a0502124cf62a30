// Criteria of one item, with what others answered: an adjudicator settles each with a reason, an annotator revises or keeps their own.

const settle = {
  keys: ["n", "k"],
  letters: false,

  begin(fixed) {
    settle.letters = fixed.letters;
  },

  parts: (item) => item.questions.length,
  finished: (item) => item.questions.every((q) => q.value !== null),
  start: (item) => Math.max(0, item.questions.findIndex((q) => q.value === null)),

  effect(item, event) {
    const question = item.questions.find((q) => q.criterion === event.criterion);
    if (question) Object.assign(question, { value: event.score, reason: event.reason });
  },

  event: (item, q, changed) => ({ item: item.id, criterion: q.criterion, score: q.value, reason: q.reason, ...changed }),

  give(line, score, reason, index = line.focus) {
    const { item } = line;
    const q = item.questions[index];
    line.focus = index;
    line.answer(this.event(item, q, { score, reason }), this.event(item, q, {}), `${score} for “${q.label}”`);
  },

  // A settled score has a reason: it is asked for before the score is kept. A revised one may have one.
  choose(line, score, dialogs, index = line.focus) {
    const q = line.item.questions[index];
    line.focus = index;
    if (!line.fixed.reasoned) return this.give(line, score, q.reason, index);
    note(dialogs, `Why ${score} for “${q.label}”?`, q.reason, (reason) =>
      reason ? this.give(line, score, reason, index) : line.say("Not settled: a settled score has a reason.", "bad"));
    line.changed();
  },

  press(name, line, dialogs) {
    const q = line.item.questions[line.focus];
    if (name === "n") return this.note(line, dialogs);
    if (name === "k") return this.keep(line);
    const option = q.options.find((o) => o.key === name);
    if (option) this.choose(line, option.value, dialogs);
    else line.say(`“${name}” is no answer here.`, "bad");
  },

  keep(line) {
    const q = line.item.questions[line.focus];
    if (q.own === null) return line.say("There is no answer of yours to keep.", "bad");
    this.give(line, q.own, q.reason);
  },

  note(line, dialogs) {
    const { item } = line;
    const q = item.questions[line.focus];
    if (q.value === null) return line.say("Choose the score first.", "bad");
    note(dialogs, `Why ${q.value} for “${q.label}”?`, q.reason, (reason) => {
      if (reason || !line.fixed.reasoned) line.record(this.event(item, q, { reason }));
      line.changed();
    });
  },

  help: [
    [["1", "…", "0"], "the score of the marked criterion"],
    [["K"], "keep your own answer"],
    [["↑", "↓"], "another criterion"],
    [["N"], "change the reason"],
  ],

  draw(item, line, act) {
    const written = (text) => el("div", { class: settle.letters ? "text raw prosaic" : "text", dir: "auto" }, settle.letters ? text : marked(text));
    const said = item.said.map((m) => el("article", { class: `message ${m.reply ? "reply" : "user"} ${item.turn === m.turn && m.reply ? "rated" : ""}` },
      el("header", {}, m.speaker, el("span", { class: "turn" }, ` ${m.turn}`), item.turn === m.turn && m.reply && el("strong", { class: "this" }, "This turn is rated")),
      m.text.trim() ? written(m.text) : el("div", { class: "text none" }, "(an empty reply)")));
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
      q.own !== null && el("button", { type: "button", class: "button", onclick: (event) => { event.stopPropagation(); act("keep", i, event); } }, "Keep mine ", key("K")),
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
      card.querySelector(".mine").textContent = q.value === null ? "" : [`${q.value}`, q.reason].filter(Boolean).join(": ");
    }
  },

  act(name, rest, line, dialogs) {
    if (name === "choose") return this.choose(line, rest[0], dialogs, rest[1]);
    if (name === "note") return this.note(line, dialogs);
    if (name === "keep") return (line.focus = rest[0]), this.keep(line);
  },

  bar: [["note", "Reason", "N"]],
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
    line.answer({ item: item.id, text }, { item: item.id, text: item.comment }, text ? "the comment" : "no comment");
  },

  help: [
    [["N"], "write a comment for the others"],
    [["K"], "no comment: go on"],
  ],

  draw(item, line, act) {
    const { left, right } = settle.draw(item, line, act);
    const said = item.said_of_it.map(([letter, text]) => el("div", { class: "reasons raw", dir: "auto" }, el("strong", {}, `${letter}: `), text));
    return { left, right: [...right, el("article", { class: "judged active" }, el("header", {}, el("span", { class: "judge" }, "Comments")), said, el("p", { class: "mine" }))] };
  },

  refresh(item, line, root) {
    for (const card of root.querySelectorAll(".judged")) card.classList.add("active");
    [...root.querySelectorAll(".judged .mine")].at(-1).textContent = item.comment ? `you: ${item.comment}` : item.comment === "" ? "no comment" : "";
  },

  act(name, rest, line, dialogs) {
    if (name === "none") return this.give(line, "");
    if (name === "note") return note(dialogs, "Comment for the others", line.item.comment ?? "", (text) => this.give(line, text));
  },

  bar: [["note", "Comment", "N"], ["none", "No comment", "K"]],
};
