// The replay as Python sends it: who is where at which moment, and the words for it. Nothing is drawn here.

const PARTS = ["performer", "counted", "came close", "others"];
const clockTime = (minute) => `${String(Math.floor(minute / 60) % 24).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}`;

class Replay {
  constructor(told) {
    Object.assign(this, told);
    this.last = this.minutes.length - 1;
    // In the order of their part in the score, and else as recorded.
    this.people = [...told.people].sort((a, b) => PARTS.indexOf(a.part) - PARTS.indexOf(b.part));
    this.stops = [...new Set(this.marks.map((mark) => this.moment(mark.minute)))].sort((a, b) => a - b);
    this.talking = new Map();
    for (const talk of this.talks) for (const name of talk.pair) this.talking.set(`${this.moment(talk.minute)} ${name}`, talk.number);
  }

  // The last moment not after a minute.
  moment(minute) {
    let low = 0;
    let high = this.last;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.minutes[middle] <= minute) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  day(minute) {
    return this.days[Math.max(0, Math.min(this.days.length - 1, Math.floor(minute / 1440)))];
  }

  says(minute) {
    return `${this.day(minute).name}, ${clockTime(minute)}`;
  }

  // As an address names it, and back; null for what is no moment of this replay.
  written(minute) {
    return `${this.day(minute).date}T${clockTime(minute)}`;
  }

  read(text) {
    const [, date, hours, minutes] = /^(\d{4}-\d\d-\d\d)T(\d\d):(\d\d)/.exec(text ?? "") ?? [];
    const day = this.days.findIndex((d) => d.date === date);
    return day < 0 ? null : day * 1440 + 60 * hours + 1 * minutes;
  }

  // What somebody does at a moment, and since when; null where nothing is recorded.
  at(person, moment) {
    const { life } = person;
    let low = 0;
    let high = life.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (life[middle][0] <= moment) low = middle;
      else high = middle - 1;
    }
    const [since, state] = life[low];
    if (state < 0) return null;
    const [action, place, room, kind] = this.states[state];
    const talk = this.talking.get(`${moment} ${person.name}`) ?? (kind === "conversation" ? this.talking.get(`${since} ${person.name}`) : undefined);
    return { action, place, room, kind, since: this.minutes[since], talk };
  }

  asleep(moment) {
    return this.people.every((person) => (this.at(person, moment)?.kind ?? "asleep") === "asleep");
  }
}
