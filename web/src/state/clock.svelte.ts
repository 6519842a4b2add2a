/** The time, once a second, for whatever says how long something takes. */
class Clock {
  now = $state(Date.now());

  constructor() {
    setInterval(() => {
      if (!document.hidden) this.now = Date.now();
    }, 1_000);
  }
}

export const time = new Clock();
