import { Link } from '@tanstack/react-router';
import { Pause, Play } from 'lucide-react';
import { useState } from 'react';
import { useListSearch } from '../../address/use-list-search.ts';
import { formatClock } from '../../format/times.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import type { Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Page } from '../../ui/page.tsx';
import { Signal } from '../../ui/signal.tsx';
import { EmptyState, ErrorCard } from '../../ui/states.tsx';
import { FinishedList } from './finished-list.tsx';
import { LiveBoard } from './live-board.tsx';
import { LiveTotals } from './live-totals.tsx';
import { useFinished } from './use-finished.ts';
import { type LiveState, type LiveView, useLive } from './use-live.ts';

const words = text.live;

/** The live page: requests in flight by lane and endpoint. */
export function LivePage() {
  const [isPaused, setIsPaused] = useState(false);
  const view = useLive(isPaused);
  const finished = useFinished(isPaused);
  const { query, setQuery } = useListSearch();
  const { can } = useAccess();
  const { live, board, error, state } = view;
  if (error !== null && live === undefined)
    return (
      <Page title={text.pages.live} description={words.description}>
        <ErrorCard error={error} onRetry={view.retry} />
      </Page>
    );
  const isEmpty = board !== undefined && query === '' && isNothingMoving(view);
  return (
    <Page
      title={text.pages.live}
      description={words.description}
      actions={<Controls state={state} at={live?.at} isPaused={isPaused} onPause={setIsPaused} />}
    >
      <div className="space-y-4">
        {state === 'reconnecting' ? (
          <p className="rounded-lg bg-warn-wash px-3.5 py-2.5 text-[13px] text-warn">{words.reconnecting}</p>
        ) : null}
        {live?.counted === 'own' ? (
          <p className="text-[13px] text-ink-soft">{text.requests.onlyMine}</p>
        ) : null}
        <LiveTotals live={live} />
        <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,1fr)_288px]">
          {isEmpty ? (
            <EmptyState
              title={words.empty}
              action={
                can('createChatCompletion') ? (
                  <Button asChild look="solid">
                    <Link to="/playground">{words.toPlayground}</Link>
                  </Button>
                ) : undefined
              }
            />
          ) : (
            <LiveBoard
              board={board}
              recent={view.recent}
              query={query}
              onQuery={setQuery}
              isStill={state !== 'live'}
            />
          )}
          <FinishedList finished={finished} nameOf={nameOf(view)} />
        </div>
      </div>
    </Page>
  );
}

const TONES: Record<LiveState, Tone> = {
  connecting: 'neutral',
  live: 'good',
  reconnecting: 'warn',
  paused: 'neutral',
};

interface ControlsProps {
  readonly state: LiveState;
  readonly at: string | undefined;
  readonly isPaused: boolean;
  readonly onPause: (isPaused: boolean) => void;
}

function Controls({ state, at, isPaused, onPause }: ControlsProps) {
  const word =
    state === 'paused' ? words.states.paused(at === undefined ? '' : formatClock(at)) : words.states[state];
  const Icon = isPaused ? Play : Pause;
  return (
    <div className="flex items-center gap-3">
      <span role="status">
        <Signal tone={TONES[state]}>{word}</Signal>
      </span>
      <Button onClick={() => onPause(!isPaused)}>
        <Icon aria-hidden className="size-4" />
        {isPaused ? words.resume : words.pause}
      </Button>
    </div>
  );
}

/** No recent requests and no cooldown. */
function isNothingMoving({ board, recent }: LiveView): boolean {
  return recent.size === 0 && board?.every(({ isActive }) => !isActive) === true;
}

function nameOf({ board }: LiveView): (endpointId: string) => string | undefined {
  const names = new Map(board?.flatMap(({ endpoints }) => endpoints.map(({ id, name }) => [id, name])));
  return (endpointId) => names.get(endpointId);
}
