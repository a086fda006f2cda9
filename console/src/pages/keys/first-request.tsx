import type { RequestLogEntry } from '@relay/contract';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { formatDuration } from '../../format/numbers.ts';
import { formatSpan } from '../../format/spans.ts';
import { formatClock, formatHover } from '../../format/times.ts';
import { Car } from '../../parts/priority-car.tsx';
import { stateTones } from '../../parts/request-state-badge.tsx';
import { text } from '../../text/index.ts';
import type { Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/class-names.ts';
import { Plate } from '../../ui/plate.tsx';
import { Lights } from '../../ui/signal.tsx';
import { useNow } from '../../ui/use-now.ts';
import { firstRequestWords } from './first-request-words.ts';
import { type FirstRequestState, useFirstRequest } from './use-first-request.ts';
import { useRefreshKeys } from './use-refresh-keys.ts';

const words = text.keys.firstRequest;
const TICK_MS = 1_000;

interface Look {
  readonly tone: Tone;
  readonly border: string;
}

const ENDED: Record<RequestLogEntry['state'], string> = {
  completed: 'border-good bg-good-wash/40',
  failed: 'border-bad bg-bad-wash/40',
  cancelled: 'border-warn bg-warn-wash/40',
};

function lookOf(state: FirstRequestState): Look {
  if (state.phase === 'ended')
    return { tone: stateTones[state.entry.state], border: ENDED[state.entry.state] };
  if (state.phase === 'waiting') return { tone: 'wait', border: 'border-wait-edge bg-wait-wash' };
  return { tone: state.phase === 'due' ? 'neutral' : 'good', border: '' };
}

/** Awaits the first request with a new key: how long it waits for capacity, and how it ended. */
export function FirstRequest({ keyId }: { readonly keyId: string }) {
  const state = useFirstRequest(keyId);
  const refresh = useRefreshKeys();
  const isOver = state.phase === 'ended';
  useEffect(() => {
    if (isOver) refresh();
  }, [isOver, refresh]);
  const { tone, border } = lookOf(state);
  return (
    <div
      className={classes(
        'grid grid-cols-[auto_minmax(0,1fr)_auto] items-center gap-x-3 gap-y-2 rounded-lg border px-3 py-2.5',
        border,
      )}
    >
      <Track phase={state.phase} />
      <Lights tone={tone} />
      <div role="status">
        <Told state={state} />
      </div>
      <Aside state={state} />
    </div>
  );
}

/** Without digits that count, so that screen readers do not read every second. */
function Told({ state }: { readonly state: FirstRequestState }) {
  if (state.phase !== 'ended') return <Lines title={words[state.phase]}>{words.hints[state.phase]}</Lines>;
  const { entry } = state;
  const { passage, cause } = firstRequestWords(entry);
  return (
    <Lines
      title={words.ended[entry.state](formatClock(entry.arrived_at))}
      hover={formatHover(entry.arrived_at)}
    >
      {passage}
      {cause === null ? null : <span className="block text-bad">{cause}</span>}
    </Lines>
  );
}

function Lines({ title, hover, children }: LinesProps) {
  return (
    <>
      <p className="font-medium" title={hover}>
        {title}
      </p>
      <p className="text-xs text-ink-soft">{children}</p>
    </>
  );
}

interface LinesProps {
  readonly title: string;
  readonly hover?: string;
  readonly children: ReactNode;
}

function Aside({ state }: { readonly state: FirstRequestState }) {
  if (state.phase === 'due') return <Elapsed />;
  if (state.phase === 'inFlight') return <span />;
  if (state.phase === 'waiting')
    return (
      <span aria-hidden>
        <Plate>{formatDuration(state.waitMs)}</Plate>
      </span>
    );
  return (
    <Button asChild size="small" className="max-sm:col-span-3">
      {/* The new key is shown only in this dialog, so the request opens beside it. */}
      <Link to="/requests/$requestId" params={{ requestId: state.entry.request_id }} target="_blank">
        {words.open}
      </Link>
    </Button>
  );
}

/** Where the request is: before the gate, at it, past it, arrived. */
const PLACES: Record<FirstRequestState['phase'], string> = {
  due: 'left-[2%] opacity-0',
  waiting: 'left-[58%]',
  inFlight: 'left-[75%]',
  ended: 'left-[88%]',
};

function Track({ phase }: { readonly phase: FirstRequestState['phase'] }) {
  return (
    <span aria-hidden className="relative col-span-3 mb-1 h-4 border-b-2 border-line-strong">
      <span className="absolute -bottom-[5px] left-[62%] h-[22px] w-[2px] bg-ink" />
      <Car
        priority="standard"
        className={classes(
          'absolute bottom-px h-[12px] transition-[left] duration-1000',
          phase === 'waiting' && 'bg-wait! shadow-[inset_0_0_0_1px_var(--wait-edge)]',
          PLACES[phase],
        )}
      />
    </span>
  );
}

function Elapsed() {
  const nowMs = useNow(TICK_MS);
  const [sinceMs] = useState(nowMs);
  return (
    <span aria-hidden>
      <Plate>{formatSpan(nowMs - sinceMs)}</Plate>
    </span>
  );
}
