// Putting it together: one Desk for one study, as long as its component is on the page.

class Desk {
  constructor(host, root, fixed, leave) {
    this.fixed = fixed;
    this.leave = leave;
    const changed = (this.changed = together((what) => this.view.render(what)));
    this.clock = new Clock();
    this.outbox = new Outbox(fixed.desk, (report) => this.bus.send?.(report), changed, (event) => this.model.effect(event));
    this.model = new Model(fixed, this.outbox, this.clock, changed);
    this.dialogs = new Dialogs(root, this.model, () => document.activeElement?.blur?.());
    const act = (name, ...rest) => this.act(name, ...rest);
    this.view = new View(root, this.model, act);
    this.keys = new Keys(host, this.model, this.dialogs, act, this.view);
    this.root = root;
    this.bus = globalThis.concordDesk ??= {};
    this.listen();
    this.changed("item");
    this.bus.receive = (news) => news.desk === fixed.desk && this.model.receive(news);
    if (this.bus.news) this.bus.receive(this.bus.news);
    // A link in the menu that led here keeps the focus otherwise, and Enter would follow it again.
    if (document.activeElement !== document.body && !document.activeElement.matches("input, textarea")) document.activeElement.blur();
  }

  listen() {
    this.off = new AbortController();
    const on = (target, names, does, more = {}) =>
      names.split(" ").forEach((name) => target.addEventListener(name, does, { signal: this.off.signal, passive: true, ...more }));
    // From outside, a field in here looks like no field: what is typed must not reach Streamlit's own keys.
    on(this.root, "keydown keypress keyup", (event) => event.stopPropagation());
    on(document, "pointerdown pointermove wheel touchmove scroll", () => this.clock.touch(), { capture: true });
    on(document, "visibilitychange", () => {
      this.clock.run(!document.hidden && !!this.model.item);
      if (document.hidden) this.model.leave(), this.outbox.flush(this.model.wanted());
    });
    on(window, "pagehide", () => this.model.leave());
    on(window, "online offline", () => this.changed());
    on(window, "beforeunload", (event) => this.outbox.risky && event.preventDefault(), { passive: false });
  }

  close() {
    this.model.leave();
    this.off.abort();
    this.keys.close();
    this.outbox.close();
    this.dialogs.hide();
    delete this.bus.receive;
    delete this.bus.news;
  }

  act(name, ...rest) {
    const { model, dialogs } = this;
    const needsItem = ["digit", "answer", "compose", "order", "keep", "words", "reason", "focus", "submit", "skip", "flag"].includes(name);
    if (needsItem && !model.item) return;
    const { at } = model;
    if (["submit", "go", "earlier", "back", "skip", "flag", "undo"].includes(name)) this.view.settle();
    if (name === "submit" && model.at !== at) return; // what was written ended the item
    if (model.locked && ["digit", "answer", "compose", "order", "words", "reason", "skip"].includes(name)) return model.say(t("Your answers to this item are locked. Enter goes on."));
    if (["skip", "flag"].includes(name) && !model.fixed.reasons.length) return;
    switch (name) {
      case "digit":
        return this.digit(rest[0]);
      case "answer":
        model.answer(...rest);
        return model.item && !rest[2] && model.unsaid(model.criteria[rest[0]]) && this.view.write(rest[0]);
      case "compose":
        return model.compose(...rest);
      case "order":
        return model.order(...rest);
      case "keep":
        return this.keep(rest[0] ?? model.focus);
      case "reason":
        return model.reason(...rest);
      case "words":
        return this.words();
      case "focus":
        model.focus = rest[0];
        return model.changed();
      case "go":
        return model.go(rest[0]);
      case "earlier":
        return model.step(-1);
      case "back":
        model.leave();
        return this.leave();
      case "submit":
        return model.submit();
      case "letters":
        return model.readAs({ letters: !model.reading.letters });
      case "undo":
        return model.undo();
      case "flag":
        return dialogs.flag(quoted(this.view.talk));
      default:
        return model.purpose[name] ? model.purpose[name](model, dialogs) : dialogs[name]();
    }
  }

  digit(name) {
    const { model } = this;
    const criterion = model.criteria[model.focus];
    if (!criterion) return model.say(t("All questions are answered: Enter submits, ↑ goes back to change one."));
    const { key: written } = widget(criterion);
    if (written) return written(this.view.questions.children[model.focus], name, this.view, model.focus);
    const option = criterion.options.find((o) => o.key === name || o.letter === name);
    if (option) this.act("answer", model.focus, option.value);
    else model.say(t("“{key}” is not an answer to this question.", { key: name.toUpperCase() }), "bad");
  }

  // The own answer of before, where a judge's or others' stand beside it.
  keep(index) {
    const { model } = this;
    const { own } = model.item.beside?.[model.criteria[index]?.name] ?? {};
    if (own == null) return model.say(t("You have no answer to keep."), "bad");
    model.answer(index, own);
  }

  // The reason beside the marked answer, or beside the one before it where the marked question is not answered yet.
  words() {
    const { model } = this;
    const said = (i) => model.criteria[i]?.reason && (!model.fixed.submits || model.item.answers[model.criteria[i].name] != null);
    const index = [model.focus, model.beside(model.focus, -1)].find(said);
    if (index === undefined) return model.say(t("Answer first, then give a reason."));
    model.focus = index;
    model.changed();
    this.view.write(index);
  }
}

export default mounted((...given) => new Desk(...given));
