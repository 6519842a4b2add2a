/** Light or dark: as the system says, unless the person has said something else. */
const STORED = 'chorus.theme';
const system = matchMedia('(prefers-color-scheme: dark)');

class Theme {
  isDark = $state(false);

  constructor() {
    const chosen = localStorage.getItem(STORED);
    this.isDark = chosen === null ? system.matches : chosen === 'dark';
    system.addEventListener('change', () => {
      if (localStorage.getItem(STORED) === null) this.set(system.matches);
    });
    this.set(this.isDark);
  }

  toggle(): void {
    this.set(!this.isDark);
    localStorage.setItem(STORED, this.isDark ? 'dark' : 'light');
  }

  private set(isDark: boolean): void {
    this.isDark = isDark;
    document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light';
  }
}

export const theme = new Theme();
