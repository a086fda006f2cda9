import { useEffect, useState } from 'react';

type Drawing = typeof import('./drawing.tsx').default;
type Loaded = { readonly drawing: Drawing } | { readonly error: unknown };

let loaded: Loaded | null = null;
/** Asked for as soon as a page with a chart is, beside the numbers that it will draw. */
const loading: Promise<Loaded> = import('./drawing.tsx').then(
  (module) => ({ drawing: module.default }),
  (error: unknown) => ({ error }),
);

/**
 * The component that draws charts, or null while it is on its way. Not by `lazy`: React holds back what follows a fallback by up to
 * 300 ms, and the numbers are there before that.
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
