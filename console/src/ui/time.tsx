import { formatAgo, formatDateTime } from '../format/times.ts';
import { useNow } from './use-now.ts';

const REFRESH_MS = 30_000;

/** How long ago, with the exact time for whoever points at it. */
export function Ago({ at }: { readonly at: string }) {
  const nowMs = useNow(REFRESH_MS);
  return (
    <time dateTime={at} title={formatDateTime(at)}>
      {formatAgo(at, nowMs)}
    </time>
  );
}
