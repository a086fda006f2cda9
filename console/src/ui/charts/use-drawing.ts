import { useEffect, useState } from 'react';

type Drawing = typeof import('./drawing.tsx').default;
type Loaded = { readonly drawing: Drawing } | { readonly error: unknown };

let loaded: Loaded | null = null;
/** Starts loading with the page, in parallel with the data. */
const loading: Promise<Loaded> = import('./drawing.tsx').then(
  (module) => ({ drawing: module.default }),
  (error: unknown) => ({ error }),
);

/**
 * The chart component, or null while loading. Not `lazy`, because React delays content after a fallback by up to
 * 300 ms.
 */
export function useDrawing(): Drawing | null {
  const [known, setKnown] = useState(loaded);
  useEffect(() => {
    if (known !== null) return;
    let isWanted = true;
    void loading.then((result) => {
      loaded = result;
      if (isWanted) setKnown(result);
    });
    return () => {
      isWanted = false;
    };
  }, [known]);
  if (known === null) return null;
  if ('error' in known) throw known.error;
  return known.drawing;
}
