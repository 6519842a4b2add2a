/** The place that is shown, and the browser's history of them. */
import { read, write, type Place } from './places';

export class Router {
  place: Place = $state.raw(read(location.pathname, location.hash));

  constructor() {
    addEventListener('popstate', () => {
      this.place = read(location.pathname, location.hash);
    });
  }

  go(place: Place): void {
    const address = write(place);
    if (address !== location.pathname + location.hash) history.pushState(null, '', address);
    this.place = place;
  }
}
