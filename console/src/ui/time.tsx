import { formatAgo, formatDateTime } from '../format/times.ts';
import { useNow } from './use-now.ts';

const REFRESH_MS = 30_000;

/** A relative time, with the exact time on hover. */
export function Ago({ at }: { readonly at: string }) {
  const nowMs = useNow(REFRESH_MS);
  return (
    <time dateTime={at} title={formatDateTime(at)}>
      {formatAgo(at, nowMs)}
    </time>
  );
}
