// Time at work on an item: while the page is in sight and somebody did something within the last minute.

const IDLE = 60_000;
const MOST = 3600; // seconds that one event may report

class Clock {
  constructor() {
    this.busy = 0;
    this.mark = this.touched = performance.now();
    this.running = false;
  }

  // Called on everything a person does, and before the page goes out of sight.
  touch() {
    this.count();
    this.touched = performance.now();
  }

  run(on) {
    this.count();
    this.running = on;
  }

  count() {
    const now = performance.now();
    if (this.running) this.busy += Math.max(0, Math.min(now, this.touched + IDLE) - this.mark);
    this.mark = now;
  }

  // The seconds since the last time somebody asked.
  take() {
    this.count();
    const seconds = Math.min(MOST, this.busy / 1000);
    this.busy = 0;
    return Math.round(seconds * 100) / 100;
  }
}
