import { formatAgo, formatHover } from '../format/times.ts';
import { useNow } from './use-now.ts';

const REFRESH_MS = 30_000;

/** A relative time, with the exact time on hover. */
export function Ago({ at }: { readonly at: string }) {
  useNow(REFRESH_MS);
  // The present time of the last tick can lie before a moment that was just read.
  return <Time at={at} format={(moment) => formatAgo(moment, Date.now())} />;
}

interface TimeProps {
  readonly at: string;
  readonly format: (at: string) => string;
}

/** A time in UTC, with the local time on hover. */
export function Time({ at, format }: TimeProps) {
  return (
    <time dateTime={at} title={formatHover(at)}>
      {format(at)}
    </time>
  );
}
