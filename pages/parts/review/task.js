// A proposed task, and the known ones it resembles: accept, edit, reject.

const DECIDED = { accepted: "Accepted", rejected: "Rejected", proposed: "Waiting" };
const FIELDS = [["act", "Name"], ["task_description", "Description, ending with the first request"], ["request_type", "Every request is"]];

const task = {
  keys: ["a", "x", "e"],
  parts: () => 1,
  finished: (item) => item.state !== "proposed",
  start: () => 0,

  effect(item, event) {
    item.state = event.state;
    if (event.edited) Object.assign(item.task, event.edited);
    if (event.state === "proposed") item.task = { ...item.proposed };
  },

  decide(line, state, edited = null) {
    const { item } = line;
    const back = { item: item.id, state: item.state, edited: item.state === "accepted" ? { ...item.task } : null };
    line.answer({ item: item.id, state, edited }, back, `${DECIDED[state].toLowerCase()} “${item.task.act}”`);
  },

  press(name, line, dialogs) {
    if (name === "a") this.decide(line, "accepted");
    else if (name === "x") this.decide(line, "rejected");
    else this.edit(line, dialogs);
  },

  edit(line, dialogs) {
    const { item } = line;
    const typed = line.drafts.get(item.id) ?? { ...item.task };
    const draft = (changed) => line.drafts.set(item.id, Object.assign(typed, changed));
    const fields = FIELDS.map(([name, label]) => {
      const field = name === "task_description" ? el("textarea", { rows: 11 }) : el("input", { type: "text" });
      field.value = typed[name];
      // What was typed is there again when the window is closed and opened.
      field.addEventListener("input", () => draft({ [name]: field.value }));
      return el("label", { class: "field" }, el("span", {}, label), field);
    });
    const type = el("select", {}, line.fixed.types.map((t) => el("option", { value: t, selected: t === typed.type }, t)));
    type.addEventListener("change", () => draft({ type: type.value }));
    const save = () => {
      dialogs.hide();
      const changed = Object.fromEntries(Object.entries(typed).filter(([name, value]) => value !== item.task[name]));
      this.decide(line, "accepted", Object.keys(changed).length ? changed : null);
    };
    const form = el("div", {}, fields, el("label", { class: "field" }, el("span", {}, "Type"), type),
      el("div", { class: "row" }, el("button", { type: "button", class: "button primary", onclick: save }, "Accept so ", key("Ctrl+Enter"))));
    form.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.preventDefault(), save();
    });
    dialogs.show("edit", "Edit the task", form);
    form.querySelector("textarea").focus();
  },

  help: [
    [["A"], "accept: the task may be used"],
    [["E"], "edit, then accept with Ctrl+Enter"],
    [["X"], "reject: it is kept, and not used"],
  ],

  draw(item, line, act) {
    const button = (name, label, k) => el("button", { type: "button", class: "button verdict", "data-state": name, onclick: (event) => act(name, event) }, `${label} `, key(k));
    return {
      left: [
        el("div", { class: "about" }, el("h2", {}, item.task.act), el("p", {}, item.facts.join(" · "))),
        el("div", { class: "text raw task", dir: "auto" }, item.task.task_description),
        el("div", { class: "asks" }, el("strong", {}, "Every request is "), item.task.request_type),
        el("div", { class: "mine" }),
      ],
      right: [
        el("h3", {}, item.resembles.length ? "It resembles" : "It resembles no known task"),
        ...item.resembles.map((like) => el("details", { class: "like", open: like === item.resembles[0] },
          el("summary", {}, el("span", {}, like.act), el("span", { class: "value" }, `${Math.round(100 * like.value)} % alike`)),
          el("p", { class: "hint" }, like.facts.join(" · ")), el("div", { class: "text raw" }, like.task_description))),
        el("div", { class: "verdicts" }, button("accepted", "Accept", "A"), button("edit", "Edit", "E"), button("rejected", "Reject", "X")),
      ],
    };
  },

  refresh(item, line, root) {
    for (const button of root.querySelectorAll(".verdict")) button.setAttribute("aria-pressed", button.dataset.state === item.state);
    root.querySelector(".mine").textContent = item.state === "proposed" ? "" : DECIDED[item.state];
  },

  act(name, rest, line, dialogs) {
    if (name === "edit") return this.edit(line, dialogs);
    this.decide(line, name);
  },

  bar: [],
};
