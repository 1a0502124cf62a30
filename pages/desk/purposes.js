// What a purpose has of its own: what is shown of an item, keys, what answers change besides. All else differs by data.

// Two replies to one dialogue, or two dialogues, by nobody named.
const pair = {
  sides(item, view) {
    const side = (letter, said, cut) =>
      el("section", { class: "side", "data-side": letter, tabindex: 0, "aria-label": `${item.whole ? t("Dialogue") : t("Reply")} ${letter}` },
        el("header", {}, el("strong", {}, letter), cut && el("strong", { class: "cut" }, t("cut off at the length limit"))), said);
    const written = (text) => el("div", { class: `text ${text.trim() ? "" : "none"}`, dir: "auto" }, text.trim() ? view.written(text) : t("(an empty reply)"));
    return el("div", { class: "sides" }, item.sides.map((given, i) =>
      item.whole ? side("AB"[i], given.map((message) => view.message(message, item))) : side("AB"[i], written(given.text), given.cut)));
  },

  refresh(item, { model, talk }) {
    const answer = item?.answers[model.criteria[model.focus]?.name];
    for (const side of talk.querySelectorAll(".side")) side.classList.toggle("better", side.dataset.side === "A" ? answer > 0 : answer < 0);
  },
};

// Of a reply a person has one score: the last one given beside any of its judges, until that one is taken back.
const spot = {
  effect(item, { criterion, score }) {
    if (typeof score === "number") item && (item.own = score);
    else if (item?.own != null && item.answers[criterion] === item.own) item.own = null;
  },

  mine({ own, answers }, name) {
    return own == null || own === answers[name] ? "" : `Your score for this reply is ${own}. You have one, whoever judged it: another would replace it.`;
  },
};

// A proposed task, which may be edited before it is accepted.
const FIELDS = [["act", "Name", 200], ["task_description", "Description, ending with the first request", 20000], ["request_type", "Every request is", 400]];
const drafts = new Map();

const task = {
  keys: { e: ["Edit", "edit", "edit, then accept with Ctrl+Enter"] },

  // What was typed is there again when the window is closed and opened; the window stays until the words are kept.
  edit(model, dialogs) {
    const { item } = model;
    if (!item) return;
    const typed = drafts.get(item.id) ?? { ...item.task };
    drafts.set(item.id, typed);
    const field = ([name, label, longest]) => {
      const input = name === "task_description" ? el("textarea", { rows: 11 }) : el("input", { type: "text" });
      input.maxLength = longest;
      input.value = typed[name];
      input.addEventListener("input", () => (typed[name] = input.value));
      return el("label", { class: "field" }, el("span", {}, label), input);
    };
    const type = el("select", { onchange: () => (typed.type = type.value) }, model.fixed.types.map((name) => el("option", { selected: name === typed.type }, name)));
    const problem = el("p", { class: "refusal", role: "alert" });
    const wait = (waiting) => form.querySelectorAll("input, textarea").forEach((input) => (input.readOnly = waiting));
    const over = (refused) => {
      if (refused) {
        problem.textContent = t("Not kept: {message}", { message: refused });
        wait(false);
        return form.isConnected && form.querySelector("textarea").focus();
      }
      drafts.delete(item.id);
      if (form.isConnected) dialogs.hide();
      model.done.push({ item: item.id, focus: 0, back: [{ ...accepted, score: null, edited: null }], what: t("the answer to “{name}”", { name: "Decision" }) });
      model.go(model.nextOpen(model.position));
    };
    const accepted = { item: item.id, do: "answer", criterion: "decision", score: "accepted", text: "" };
    const save = () => {
      if (model.awaited) return;
      const edited = Object.fromEntries(Object.entries(typed).filter(([name, value]) => value !== item.task[name]));
      problem.textContent = t("Saving…");
      wait(true);
      model.attempt({ ...accepted, edited }, over);
    };
    const form = el("div", {}, FIELDS.map(field), el("label", { class: "field" }, el("span", {}, "Type"), type), problem,
      el("div", { class: "row" }, el("button", { type: "button", class: "button primary", onclick: save }, "Accept so ", key("Ctrl+Enter"))));
    form.addEventListener("keydown", (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && (event.preventDefault(), save()));
    dialogs.show("edit", "Edit the task", form);
    form.querySelector("textarea").focus();
  },
};

const PURPOSES = { pair, spot, task };
