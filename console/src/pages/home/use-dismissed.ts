import { useState } from 'react';

const KEY = 'relay-setup-dismissed';

/** Whether this browser dismissed the checklist, and how to dismiss it. */
export function useDismissed(): readonly [boolean, () => void] {
  const [isDismissed, setDismissed] = useState(() => window.localStorage.getItem(KEY) !== null);
  const dismiss = () => {
    window.localStorage.setItem(KEY, 'true');
    setDismissed(true);
  };
  return [isDismissed, dismiss];
}
