import { useSyncExternalStore } from 'react';

export type Theme = 'light' | 'dark' | 'system';

const KEY = 'relay-theme';
const darkWanted = () => window.matchMedia('(prefers-color-scheme: dark)');

/** `public/theme.js` does the same before the first paint. */
function apply(): void {
  const theme = readTheme();
  const dark = theme === 'dark' || (theme === 'system' && darkWanted().matches);
  document.documentElement.dataset['theme'] = dark ? 'dark' : 'light';
}

function readTheme(): Theme {
  const kept = localStorage.getItem(KEY);
  return kept === 'light' || kept === 'dark' ? kept : 'system';
}

function subscribe(onChange: () => void): () => void {
  const changed = () => {
    apply();
    onChange();
  };
  const wanted = darkWanted();
  wanted.addEventListener('change', changed);
  window.addEventListener('storage', changed);
  return () => {
    wanted.removeEventListener('change', changed);
    window.removeEventListener('storage', changed);
  };
}

export function useTheme(): readonly [Theme, (theme: Theme) => void] {
  const theme = useSyncExternalStore(subscribe, readTheme);
  return [theme, setTheme];
}

function setTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme);
  // The browser sends storage events to other windows only; this updates the present one.
  window.dispatchEvent(new StorageEvent('storage', { key: KEY }));
}
