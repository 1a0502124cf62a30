// What opens over the desk: help, guidelines, and the two that ask for words. Escape closes; nothing is done by closing.

class Dialogs {
  constructor(root, model, refocus) {
    Object.assign(this, { root, model, refocus });
    this.open = null;
  }

  show(name, title, content, digits = {}) {
    this.hide();
    const dialog = el("dialog", { class: `dialog ${name}`, "aria-labelledby": "dialog-title", onclose: () => this.hide() },
      el("header", {}, el("h2", { id: "dialog-title" }, title),
        el("button", { type: "button", class: "button quiet", "aria-label": "Close", onclick: () => this.hide() }, "Esc ✕")),
      content);
    // A click beside the dialog closes it.
    dialog.addEventListener("click", (event) => event.target === dialog && this.hide());
    this.root.append(dialog);
    this.open = { name, dialog, digits };
    dialog.showModal();
  }

  hide() {
    const open = this.open;
    this.open = null;
    open?.dialog.remove();
    if (open) this.refocus();
  }

  // A plain key while a dialog is open and nobody types.
  press(name) {
    if (name === this.open.name || (name === "?" && this.open.name === "help")) return this.hide();
    this.open.digits[name]?.();
  }

  help() {
    const digits = this.model.criteria.flatMap((c) => c.options.map((o) => o.key).filter(Boolean));
    const rows = [
      [[...new Set(digits)], "answer the marked question and go to the next"],
      [["↑", "↓"], "go to another question"],
      [["Enter"], "submit when every question is answered, and go to the next open item"],
      [["←", "→"], "go to the item before or after; earlier answers may be changed"],
      [["U"], "undo the last thing you did, also on an earlier item"],
      [["S"], "skip the item, with a reason"],
      ...(this.model.criteria.some((c) => c.reason) ? [[["W"], "write a reason beside the answer; Enter ends it"]] : []),
      [["F"], "flag the item with a comment for the researcher"],
      [["Space", "Page ↑", "Page ↓"], "scroll the dialogue"],
      [["T"], "size of texts, length of lines, contrast"],
      [["M"], "show texts as they were written, with the marks of Markdown, and back"],
      [["G"], "guidelines"],
      [["?"], "this help"],
    ];
    this.show("help", "Keys", el("div", {},
      el("table", {}, el("tbody", {}, rows.map(([keys, does]) => el("tr", {}, el("th", { scope: "row" }, keys.map((name) => el("kbd", {}, name))), el("td", {}, does))))),
      el("p", {}, "Every answer is saved as you give it. Without a connection answers stay in this browser and are sent later. You may stop at any time and come back by your link.")));
  }

  guidelines() {
    if (!this.model.fixed.guidelines) return this.model.say("This study has no guidelines.");
    const prose = el("div", { class: "prose", tabindex: 0, dir: "auto" }, marked(this.model.fixed.guidelines, true));
    const found = el("span", { class: "hint", role: "status" });
    const search = el("input", { type: "search", placeholder: "Search", "aria-label": "Search the guidelines" });
    let places = [];
    let next = 0;
    const seek = () => {
      places = occurrences(prose, search.value.trim());
      next = 0;
      CSS.highlights?.set("found", new Highlight(...places));
      found.textContent = search.value.trim() && (places.length ? `${places.length} found` : "not found");
      show();
    };
    const show = () => places[next++ % places.length]?.startContainer.parentElement.scrollIntoView({ block: "center" });
    search.addEventListener("input", seek);
    search.addEventListener("keydown", (event) => event.key === "Enter" && (event.preventDefault(), show()));
    this.show("guidelines", "Guidelines", el("div", {}, el("div", { class: "row search" }, search, found), prose));
    // Begins at the section about the marked question, where there is one.
    const about = this.model.criteria[this.model.focus]?.label.toLowerCase();
    const section = [...prose.querySelectorAll("h3, h4")].find((heading) => heading.textContent.toLowerCase() === about);
    section?.scrollIntoView({ block: "start" });
  }

  // Takes effect at once, and is kept with the annotator.
  reading() {
    const { model } = this;
    const choice = (name, title, options) => el("fieldset", {}, el("legend", {}, title), Object.entries(options).map(([value, label]) =>
      el("label", {}, el("input", { type: "radio", name, value, checked: model.reading[name] === value, onchange: () => model.readAs({ [name]: value }) }), label)));
    const tick = (name, label) => el("label", {}, el("input", { type: "checkbox", checked: model.reading[name], onchange: (event) => model.readAs({ [name]: event.target.checked }) }), label);
    this.show("reading", "Text", el("form", {},
      choice("size", "Size of texts", { small: "Small", normal: "Normal", large: "Large", largest: "Largest" }),
      choice("width", "Length of lines", { narrow: "Short", normal: "Normal", wide: "Long" }),
      el("fieldset", {}, el("legend", {}, "More"), tick("contrast", "High contrast"), tick("letters", ["Texts as they were written, with the marks of Markdown ", key("M")])),
      el("p", { class: "hint" }, "Kept with your name, on every device.")));
  }

  skip() {
    const { reasons } = this.model.fixed;
    const choose = (reason) => {
      this.hide();
      this.model.skip(reason);
    };
    const words = el("input", { type: "text", maxlength: 500, "aria-label": "Another reason", placeholder: "Another reason" });
    const own = () => (words.value.trim() ? choose(words.value.trim()) : words.focus());
    const other = String(reasons.length + 1);
    const digits = Object.fromEntries(reasons.map((reason, i) => [String(i + 1), () => choose(reason)]));
    digits[other] = () => words.focus();
    this.show("skip", "Why skip this item?", el("form", { onsubmit: (event) => { event.preventDefault(); own(); } },
      reasons.map((reason, i) => el("button", { type: "button", class: "button reason", onclick: () => choose(reason) }, key(i + 1), " ", reason)),
      el("div", { class: "own" }, key(other), words, el("button", { type: "submit", class: "button primary" }, "Skip"))), digits);
    // The first button would be focused, and Enter after S would choose it by accident.
    this.open.dialog.querySelector("h2").tabIndex = -1;
    this.open.dialog.querySelector("h2").focus();
  }

  flag() {
    const { item } = this.model;
    const words = el("textarea", { rows: 4, maxlength: 2000, "aria-label": "Comment for the researcher" });
    words.value = item.flag;
    const send = (text) => {
      this.hide();
      this.model.flag(text);
    };
    const save = () => (words.value.trim() ? send(words.value.trim()) : words.focus());
    words.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      save();
    });
    this.show("flag", "Flag for the researcher", el("div", {}, words,
      el("div", { class: "row" },
        item.flag && el("button", { type: "button", class: "button", onclick: () => send("") }, "Take the flag away"),
        el("span", { class: "push" }), el("span", { class: "hint" }, key("Ctrl"), " ", key("Enter")),
        el("button", { type: "button", class: "button primary", onclick: save }, "Save"))));
    words.focus();
  }
}
