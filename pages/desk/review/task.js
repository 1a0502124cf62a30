// A proposed task, and the known ones it resembles: accept, edit, reject.

const DECIDED = { accepted: "Accepted", rejected: "Rejected", proposed: "Waiting" };
const FIELDS = [["act", "Name", 200], ["task_description", "Description, ending with the first request", 20000], ["request_type", "Every request is", 400]];

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
    const before = { ...item.task };
    const back = { item: item.id, state: item.state, edited: item.state === "accepted" ? before : null };
    const typed = line.drafts.get(item.id) ?? { ...item.task };
    const draft = (changed) => line.drafts.set(item.id, Object.assign(typed, changed));
    const fields = FIELDS.map(([name, label, longest]) => {
      const field = name === "task_description" ? el("textarea", { rows: 11, maxlength: longest }) : el("input", { type: "text", maxlength: longest });
      field.value = typed[name];
      // What was typed is there again when the window is closed and opened.
      field.addEventListener("input", () => draft({ [name]: field.value }));
      return el("label", { class: "field" }, el("span", {}, label), field);
    });
    const type = el("select", {}, line.fixed.types.map((t) => el("option", { value: t, selected: t === typed.type }, t)));
    type.addEventListener("change", () => draft({ type: type.value }));
    const problem = el("p", { class: "refusal", role: "alert" });
    const words = () => form.querySelectorAll("input, textarea");
    const wait = (waiting) => words().forEach((field) => (field.readOnly = waiting));
    // The window stays until the words are kept or it is closed: what one goes on typing would be keys.
    const save = () => {
      if (line.trying) return;
      const changed = Object.fromEntries(Object.entries(typed).filter(([name, value]) => value !== before[name]));
      problem.textContent = "Saving…";
      wait(true);
      const over = () => {
        line.drafts.delete(item.id);
        if (form.isConnected) dialogs.hide();
      };
      const refused = (message) => {
        problem.textContent = `Not kept: ${message}`;
        wait(false);
        if (form.isConnected && !form.contains(form.getRootNode().activeElement)) form.querySelector("textarea").focus();
      };
      const event = { item: item.id, state: "accepted", edited: Object.keys(changed).length ? changed : null };
      line.attempt(event, back, `accepted “${typed.act}”`, over, refused);
    };
    const form = el("div", {}, fields, el("label", { class: "field" }, el("span", {}, "Type"), type), problem,
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
