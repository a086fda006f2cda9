import type { RequestLogEntry } from '@relay/contract';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { readLatestOfKey } from '../../api/live-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { formatDuration } from '../../format/numbers.ts';
import { formatSpan } from '../../format/spans.ts';
import { Car } from '../../parts/priority-car.tsx';
import { stateTones } from '../../parts/request-state-badge.tsx';
import { useLiveTail } from '../../parts/use-live-tail.ts';
import { text } from '../../text/index.ts';
import { classes } from '../../ui/class-names.ts';
import { Plate } from '../../ui/plate.tsx';
import { Lights } from '../../ui/signal.tsx';
import { useNow } from '../../ui/use-now.ts';

const words = text.keys.firstRequest;
const TICK_MS = 1_000;
/** In the colors of `stateTones`. */
const BORDERS: Record<RequestLogEntry['state'], string> = {
  completed: 'border-good',
  failed: 'border-bad',
  cancelled: 'border-warn',
};

/** Waits for the first request with a new key, and shows how it ended. */
export function FirstRequest({ keyId }: { readonly keyId: string }) {
  const api = useApi();
  const [first, setFirst] = useState<RequestLogEntry | null>(null);
  const take = (entry: RequestLogEntry | undefined) => {
    if (entry !== undefined) setFirst((before) => before ?? entry);
  };
  useLiveTail({
    isOn: first === null,
    query: { api_key_id: keyId },
    // The request may have finished before the stream began. The stream reports failures and retries.
    onBeginning: () => void readLatestOfKey(api, keyId).then(take, () => undefined),
    onEntries: ([entry]) => take(entry),
  });
  return (
    <div
      role="status"
      className={classes(
        'grid grid-cols-[auto_minmax(0,1fr)_auto] items-center gap-x-3 gap-y-2 rounded-lg border px-3 py-2.5',
        first !== null && BORDERS[first.state],
      )}
    >
      <Track isHere={first !== null} />
      <Lights tone={first === null ? 'warn' : stateTones[first.state]} />
      {first === null ? (
        <>
          <span>
            <span className="block font-medium">{words.due}</span>
            <span className="block text-xs text-ink-faint">{words.dueHint}</span>
          </span>
          <Elapsed />
        </>
      ) : (
        <>
          <span>
            <span className="block font-medium">{words.here}</span>
            <span className="block text-xs text-ink-faint">
              {words.ended(String(first.http_status), formatDuration(first.duration_ms))}
            </span>
          </span>
          <Link to="/requests/$requestId" params={{ requestId: first.request_id }} className="link text-xs">
            {words.open}
          </Link>
        </>
      )}
    </div>
  );
}

/** The request passes the gate when it arrives. */
function Track({ isHere }: { readonly isHere: boolean }) {
  return (
    <span aria-hidden className="relative col-span-3 mb-1 h-4 border-b-2 border-line-strong">
      <span className="absolute -bottom-[5px] left-[62%] h-[22px] w-[2px] bg-ink" />
      <Car
        priority="standard"
        className={classes(
          'absolute bottom-px h-[12px] transition-[left] duration-1000',
          isHere ? 'left-[88%]' : 'left-[2%] opacity-0',
        )}
      />
    </span>
  );
}

/** Counts apart from the status, so that screen readers do not read every second. */
function Elapsed() {
  const nowMs = useNow(TICK_MS);
  const [sinceMs] = useState(nowMs);
  return (
    <span aria-hidden>
      <Plate>{formatSpan(nowMs - sinceMs)}</Plate>
    </span>
  );
}
