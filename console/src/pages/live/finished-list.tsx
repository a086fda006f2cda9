import type { RequestLogEntry } from '@relay/contract';
import { Link } from '@tanstack/react-router';
import { formatDuration } from '../../format/numbers.ts';
import { formatClock } from '../../format/times.ts';
import { stateTones } from '../../parts/request-state-badge.tsx';
import { text } from '../../text/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { Panel } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import type { Finished } from './use-finished.ts';

const words = text.live.finished;
const SKELETON_ROWS = ['a', 'b', 'c', 'd', 'e'] as const;

interface FinishedListProps {
  readonly finished: Finished;
  readonly nameOf: (endpointId: string) => string | undefined;
}

/** The latest finished requests; each links to its page. */
export function FinishedList({ finished: { entries, state }, nameOf }: FinishedListProps) {
  return (
    <Panel
      title={words.title}
      actions={
        <Link to="/requests" className="rounded text-xs text-ink-soft hover:text-ink hover:underline">
          {words.all}
        </Link>
      }
    >
      {state === 'failed' && entries === undefined ? (
        <p className="px-4 py-6 text-[13px] text-ink-soft">{words.failed}</p>
      ) : entries === undefined ? (
        <ul>
          {SKELETON_ROWS.map((row) => (
            <li key={row} className="flex h-[53px] items-center border-b px-4 last:border-b-0">
              <Skeleton className="w-full" />
            </li>
          ))}
        </ul>
      ) : entries.length === 0 ? (
        <p className="px-4 py-6 text-[13px] text-ink-soft">{words.none}</p>
      ) : (
        <ul className="divide-y">
          {entries.map((entry) => (
            <FinishedRow key={entry.request_id} entry={entry} endpoint={nameOf(entry.endpoint_id ?? '')} />
          ))}
        </ul>
      )}
    </Panel>
  );
}

interface FinishedRowProps {
  readonly entry: RequestLogEntry;
  readonly endpoint: string | undefined;
}

function FinishedRow({ entry, endpoint }: FinishedRowProps) {
  const facts = [
    endpoint,
    formatDuration(entry.duration_ms),
    entry.wait_ms > 0 ? words.waited(formatDuration(entry.wait_ms)) : undefined,
  ];
  return (
    <li className="relative px-4 py-2 hover:bg-hover">
      <div className="flex items-center gap-2">
        <Link
          to="/requests/$requestId"
          params={{ requestId: entry.request_id }}
          className="min-w-0 flex-1 truncate text-[13px] font-medium after:absolute after:inset-0 after:content-['']"
        >
          {entry.model ?? text.requests.noModel}
        </Link>
        {entry.state === 'completed' ? (
          <span className="text-xs text-good">{text.requests.states.completed}</span>
        ) : (
          <Badge tone={stateTones[entry.state]}>{failureOf(entry)}</Badge>
        )}
      </div>
      <p className="flex gap-2 text-xs text-ink-faint tabular-nums">
        <span className="min-w-0 flex-1 truncate">
          {facts.filter((fact) => fact !== undefined).join(' · ')}
        </span>
        <Time at={entry.finished_at} format={(at) => `${formatClock(at)} UTC`} />
      </p>
    </li>
  );
}

/** Prefers the error code to the state. */
function failureOf({ state, error_code: code }: RequestLogEntry): string {
  return state === 'failed' && code !== null ? code : text.requests.states[state];
}
