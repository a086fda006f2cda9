import { useCallback, useState } from 'react';
import type { MouseHandlerDataParam } from 'recharts';
import type { Bucket } from '../../format/times.ts';
import { endOf } from './chart-data.ts';

/** A selection by dragging from one bucket to another. */
export function useSelection(bucket: Bucket, onSelect: ((from: string, to: string) => void) | undefined) {
  const [from, setFrom] = useState<string | null>(null);
  const [to, setTo] = useState<string | null>(null);
  const clear = useCallback(() => {
    setFrom(null);
    setTo(null);
  }, []);
  if (onSelect === undefined) return { from, to, handlers: {} };
  const labelOf = ({ activeLabel }: MouseHandlerDataParam) =>
    typeof activeLabel === 'string' ? activeLabel : null;
  return {
    from,
    to,
    handlers: {
      onMouseDown: (state: MouseHandlerDataParam) => setFrom(labelOf(state)),
      onMouseMove: (state: MouseHandlerDataParam) => {
        if (from !== null) setTo(labelOf(state));
      },
      onMouseUp: (state: MouseHandlerDataParam) => {
        const last = labelOf(state);
        clear();
        if (from === null || last === null) return;
        const [first, end] = from < last ? [from, last] : [last, from];
        onSelect(first, endOf(end, bucket));
      },
      onMouseLeave: clear,
    },
  };
}
