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
        el("button", { type: "button", class: "button quiet", "aria-label": t("Close"), onclick: () => this.hide() }, "Esc ✕")),
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
    const { fixed, criteria, purpose, item } = this.model;
    const answers = criteria.flatMap((c) => widget(c).keys ?? c.options.flatMap((o) => [o.key, o.letter])).filter(Boolean);
    const rows = [
      [[...new Set(answers)].map((name) => name.toUpperCase()), t("answer the marked question and go to the next")],
      ...(Object.values(item?.beside ?? {}).some((b) => b.own != null) ? [[["K"], t("keep your own answer")]] : []),
      ...Object.entries(purpose.keys ?? {}).map(([name, [, , does]]) => [[name.toUpperCase()], does]),
      [["↑", "↓"], t("go to another question")],
      [["Enter"], fixed.submits ? t("submit when every question is answered, and go to the next open item") : t("the next open item; this one stays open until every question is answered")],
      [["←", "→"], t("go to the item before or after; earlier answers may be changed")],
      [["U"], t("undo the last thing you did, also on an earlier item")],
      ...(criteria.some((c) => c.reason) ? [[["W"], t("write a reason next to the answer; Enter ends it")]] : []),
      ...(fixed.reasons.length ? [[["S"], t("skip the item, with a reason")], [["F"], t("flag the item with a comment for the researcher; it quotes words selected in the dialogue")]] : []),
      [["Space", "Page ↑", "Page ↓"], t("scroll the dialogue")],
      ...(fixed.reasons.length ? [[["L"], t("list the items that you skipped or flagged")]] : []),
      [["T"], t("text size, line length, contrast")],
      [["M"], t("show texts as written, with Markdown characters, and back")],
      ...(fixed.guidelines ? [[["G"], t("guidelines")]] : []),
      [["?"], t("this help")],
    ];
    this.show("help", t("Keys"), el("div", {},
      el("table", {}, el("tbody", {}, rows.map(([keys, does]) => el("tr", {}, el("th", { scope: "row" }, keys.map((name) => el("kbd", {}, name))), el("td", {}, does))))),
      el("p", {}, t("Every answer is saved as you give it. Without a connection answers stay in this browser and are sent later. You may stop at any time and come back by your link."))));
  }

  guidelines() {
    if (!this.model.fixed.guidelines) return this.model.say(t("This study has no guidelines."));
    const prose = el("div", { class: "prose", tabindex: 0, dir: "auto" }, marked(this.model.fixed.guidelines, true));
    const found = el("span", { class: "hint", role: "status" });
    const search = el("input", { type: "search", placeholder: t("Search"), "aria-label": t("Search the guidelines") });
    let places = [];
    let next = 0;
    const seek = () => {
      places = occurrences(prose, search.value.trim());
      next = 0;
      CSS.highlights?.set("found", new Highlight(...places));
      found.textContent = search.value.trim() && (places.length ? t("{count} found", { count: places.length }) : t("not found"));
      show();
    };
    const show = () => places[next++ % places.length]?.startContainer.parentElement.scrollIntoView({ block: "center" });
    search.addEventListener("input", seek);
    search.addEventListener("keydown", (event) => event.key === "Enter" && (event.preventDefault(), show()));
    this.show("guidelines", t("Guidelines"), el("div", {}, el("div", { class: "row search" }, search, found), prose));
    // Begins at the section about the marked question, where there is one.
    const about = this.model.criteria[this.model.focus]?.label.toLowerCase();
    const section = [...prose.querySelectorAll("h3, h4")].find((heading) => heading.textContent.toLowerCase() === about);
    section?.scrollIntoView({ block: "start" });
  }

  // The items that were skipped, and those that were flagged: each leads there.
  mine() {
    const { model } = this;
    const numbered = model.strip.map(([id, state, flag], i) => ({ id, state, flag, number: i + 1 }));
    const list = (title, items, said) =>
      items.length > 0 && el("section", {}, el("h3", {}, title), el("ul", { class: "mine" }, items.map(({ id, number }) =>
        el("li", {}, el("button", { type: "button", class: "button", onclick: () => (this.hide(), model.go(id)) }, t("Item {number}", { number })), " ", el("span", { dir: "auto" }, said(id))))));
    const skipped = numbered.filter(({ state }) => state === "skipped");
    const flagged = numbered.filter(({ flag }) => flag);
    const note = (id, which) => model.items.get(id)?.[which === 0 ? "reason" : "flag"] || model.notes[id]?.[which] || "";
    if (!skipped.length && !flagged.length) return model.say(t("You have no skipped or flagged items."));
    this.show("mine", t("Skipped and flagged"), el("div", {},
      list(t("Skipped"), skipped, (id) => t(note(id, 0))), list(t("Flagged"), flagged, (id) => note(id, 1))));
  }

  // The desk is drawn anew in another language.
  languages(model) {
    const names = { en: "English", ...Object.fromEntries(Object.entries(model.fixed.words).map(([code, words]) => [code, words.English])) };
    const choose = (event) => {
      this.hide();
      model.readAs({ language: event.target.value });
    };
    return el("label", {}, t("Language"), el("select", { onchange: choose }, Object.entries(names).map(([code, name]) =>
      el("option", { value: code, selected: code === model.language }, name))));
  }

  // Takes effect at once.
  reading() {
    const { model } = this;
    const choice = (name, title, options) => el("fieldset", {}, el("legend", {}, title), Object.entries(options).map(([value, label]) =>
      el("label", {}, el("input", { type: "radio", name, value, checked: model.reading[name] === value, onchange: () => model.readAs({ [name]: value }) }), label)));
    const tick = (name, label) => el("label", {}, el("input", { type: "checkbox", checked: model.reading[name], onchange: (event) => model.readAs({ [name]: event.target.checked }) }), label);
    this.show("reading", t("Text"), el("form", {},
      choice("size", t("Text size"), { small: t("Small"), normal: t("Normal"), large: t("Large"), largest: t("Largest") }),
      choice("width", t("Line length"), { narrow: t("Short"), normal: t("Normal"), wide: t("Long") }),
      el("fieldset", {}, el("legend", {}, t("More")), tick("contrast", t("High contrast")), tick("letters", [`${t("Texts as written, with Markdown characters")} `, key("M")])),
      model.fixed.words && this.languages(model),
      el("p", { class: "hint" }, t("Saved in this browser."))));
  }

  skip() {
    const { reasons } = this.model.fixed;
    const choose = (reason) => {
      this.hide();
      this.model.skip(reason);
    };
    const words = el("input", { type: "text", maxlength: 500, "aria-label": t("Another reason"), placeholder: t("Another reason") });
    const own = () => (words.value.trim() ? choose(words.value.trim()) : words.focus());
    const other = String(reasons.length + 1);
    const digits = Object.fromEntries(reasons.map((reason, i) => [String(i + 1), () => choose(reason)]));
    digits[other] = () => words.focus();
    this.show("skip", t("Why skip this item?"), el("form", { onsubmit: (event) => { event.preventDefault(); own(); } },
      reasons.map((reason, i) => el("button", { type: "button", class: "button reason", onclick: () => choose(reason) }, key(i + 1), " ", t(reason))),
      el("div", { class: "own" }, key(other), words, el("button", { type: "submit", class: "button primary" }, t("Skip"))), this.limit(words)), digits);
    // The first button would be focused, and Enter after S would choose it by accident.
    this.open.dialog.querySelector("h2").tabIndex = -1;
    this.open.dialog.querySelector("h2").focus();
  }

  // How much a field takes, told before it is full.
  limit(field) {
    return el("p", { class: "hint" }, t("At most {most} characters", { most: grouped(field.maxLength) }));
  }

  // Words that are selected in the dialogue begin the comment, or go on with it.
  flag(quoted = "") {
    const { item } = this.model;
    const words = el("textarea", { rows: 4, maxlength: 2000, "aria-label": t("Comment for the researcher") });
    words.value = [item.flag, quoted && `${quoted} `].filter(Boolean).join("\n").slice(0, words.maxLength);
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
    this.show("flag", t("Flag for the researcher"), el("div", {}, words, this.limit(words),
      el("div", { class: "row" },
        item.flag && el("button", { type: "button", class: "button", onclick: () => send("") }, t("Remove the flag")),
        el("span", { class: "push" }), el("span", { class: "hint" }, key("Ctrl"), " ", key("Enter")),
        el("button", { type: "button", class: "button primary", onclick: save }, t("Save")))));
    words.focus();
  }
}
