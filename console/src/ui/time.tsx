import { useEffect, useState } from 'react';
import { formatAgo, formatDateTime } from '../format/times.ts';

const REFRESH_MS = 30_000;

/** How long ago, with the exact time for whoever points at it. */
export function Ago({ at }: { readonly at: string }) {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <time dateTime={at} title={formatDateTime(at)}>
      {formatAgo(at, nowMs)}
    </time>
  );
}
