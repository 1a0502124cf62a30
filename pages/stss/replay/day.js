// One resident's day: the plan of the morning, the plan as it stood at last, what happened, and a line at the moment shown.

const KINDS = ["the task", "conversation", "on the way", "asleep", "anything else"];
const span = (minutes) => [minutes >= 60 ? `${Math.floor(minutes / 60)} h` : "", minutes % 60 ? `${minutes % 60} min` : ""].filter(Boolean).join(" ") || "0 min";

class Day {
  constructor(replay, act) {
    Object.assign(this, { replay, act });
    this.title = el("h3", {});
    this.line = el("div", { class: "moment" });
    this.bars = el("div", { class: "bars" });
    this.said = el("p", { class: "said" });
    this.parts = el("div", { class: "scroll" });
    this.more = el("details", {}, el("summary", {}, "The morning’s plan part by part"), this.parts);
    this.node = el("section", { class: "day" }, this.title,
      el("div", { class: "kinds" }, KINDS.map((kind) => el("span", {}, el("i", { "data-kind": kind }), kind))),
      this.bars, this.said, this.more);
  }

  // Draws the day of a person; `day` is its number.
  draw(person, day) {
    const { rows, said, parts } = person.days[day];
    this.title.textContent = `${person.name}: ${this.replay.days[day].name}`;
    const hours = el("div", { class: "hours", "aria-hidden": "true" }, [0, 3, 6, 9, 12, 15, 18, 21, 24].map((hour) => el("span", { style: `left: ${(100 * hour) / 24}%` }, `${hour}:00`)));
    this.bars.replaceChildren(
      ...rows.map(([name, stretches]) => el("div", { class: "row" }, el("div", { class: "of" }, name), el("div", { class: "bar" }, stretches.map((s) => this.stretch(day, s))))),
      el("div", { class: "row" }, el("div", { class: "of" }), hours),
      el("div", { class: "over" }, this.line),
    );
    this.bars.setAttribute("role", "group");
    this.bars.setAttribute("aria-label", `The day of ${person.name}: plan and what happened`);
    this.said.textContent = said;
    this.more.hidden = !parts.length;
    this.parts.replaceChildren(el("table", {},
      el("tr", {}, ["when", "planned", "where", "as planned", "instead"].map((head) => el("th", {}, head))),
      parts.map(([[start, end, action, place], done, instead]) => el("tr", {},
        el("td", {}, `${clockTime(start)} – ${end === 1440 ? "24:00" : clockTime(end)}`), el("td", {}, action), el("td", {}, place),
        el("td", {}, `${span(done)} of ${span(end - start)}`), el("td", {}, instead.map(([what, minutes]) => `${what} (${span(minutes)})`).join(", "))))));
  }

  stretch(day, [start, end, action, place, kind]) {
    const told = `${clockTime(start)} – ${end === 1440 ? "24:00" : clockTime(end)}: ${action}, ${place}`;
    return el("button", {
      type: "button", class: "stretch", "data-kind": kind, title: told, "aria-label": told, tabindex: -1,
      style: `left: ${start / 14.4}%; width: ${(end - start) / 14.4}%`, onclick: () => this.act.go(day * 1440 + start),
    }, action);
  }

  at(minute) {
    this.line.style.left = `${(minute % 1440) / 14.4}%`;
  }
}
