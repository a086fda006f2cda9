import { Link } from '@tanstack/react-router';
import { Maximize, Pause, Play } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useListSearch } from '../../address/use-list-search.ts';
import { formatClock } from '../../format/times.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import type { Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Page } from '../../ui/page.tsx';
import { Signal } from '../../ui/signal.tsx';
import { ErrorCard } from '../../ui/states.tsx';
import { FallbackList } from './fallback-list.tsx';
import { FinishedList } from './finished-list.tsx';
import { LiveBoard } from './live-board.tsx';
import { SaidNowAndThen, WallTotals } from './live-totals.tsx';
import { useFallbacks } from './use-fallbacks.ts';
import { useFinished } from './use-finished.ts';
import { type LiveState, type LiveView, useLive } from './use-live.ts';

const words = text.live;

/** The live page: every lane with its requests, the latest that fell back, and the latest that finished. */
export function LivePage() {
  const [isPaused, setIsPaused] = useState(false);
  const [isWall, setIsWall] = useState(false);
  const view = useLive(isPaused);
  const finished = useFinished(isPaused);
  const { query, setQuery } = useListSearch();
  const { live, board, error, state } = view;
  const fallbacks = useFallbacks(live, isPaused);
  if (error !== null && live === undefined)
    return (
      <Page title={text.pages.live}>
        <ErrorCard error={error} onRetry={view.retry} />
      </Page>
    );
  const shownBoard = (
    <LiveBoard
      board={board}
      recent={view.recent}
      query={query}
      onQuery={setQuery}
      isStill={state !== 'live'}
      isWall={isWall}
      readAtMs={view.readAtMs}
    />
  );
  return (
    <Page
      title={text.pages.live}
      actions={
        <Controls state={state} at={live?.at} isPaused={isPaused} onPause={setIsPaused} onWall={setIsWall} />
      }
    >
      <SaidNowAndThen live={live} />
      <div className="space-y-4">
        {isWall ? null : <Reconnecting state={state} />}
        {live?.counted === 'own' ? <p className="text-ink-soft">{text.requests.onlyMine}</p> : null}
        {board !== undefined && isNothingMoving(view) ? <NothingMoving /> : null}
        {isWall ? null : shownBoard}
        {board === undefined ? null : (
          <div className="space-y-6 pt-2">
            <FallbackList fallbacks={fallbacks} nameOf={nameOf(view)} />
            <FinishedList finished={finished} nameOf={nameOf(view)} />
          </div>
        )}
      </div>
      {isWall ? (
        <Wall totals={<WallTotals live={live} />} onLeave={() => setIsWall(false)}>
          <Reconnecting state={state} />
          {shownBoard}
        </Wall>
      ) : null}
    </Page>
  );
}

function Reconnecting({ state }: { readonly state: LiveState }) {
  if (state !== 'reconnecting') return null;
  return <p className="mb-4 border-l-[3px] border-warn py-0.5 pl-3 text-warn">{words.reconnecting}</p>;
}

/** The board stands empty; one sentence and one thing to do about it. */
function NothingMoving() {
  const { can } = useAccess();
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-2 text-ink-soft">
      {words.empty}
      {can('createChatCompletion') ? (
        <Link to="/playground" className="link">
          {words.toPlayground}
        </Link>
      ) : null}
    </p>
  );
}

/** The board alone, black, to be read from five meters. Escape leaves it. */
function Wall({ totals, onLeave, children }: WallProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      aria-label={words.wall}
      data-theme="dark"
      onClose={onLeave}
      className="m-0 h-dvh max-h-none w-screen max-w-none overflow-auto bg-board text-ink"
    >
      <div className="px-6 py-4.5 [zoom:1.16] min-[1700px]:[zoom:1.48]">
        <div className="mb-3.5 flex items-end justify-end gap-x-6">
          {totals}
          <Button size="small" onClick={onLeave}>
            {words.leaveWall}
          </Button>
        </div>
        {children}
      </div>
    </dialog>
  );
}

interface WallProps {
  readonly totals: ReactNode;
  readonly onLeave: () => void;
  readonly children: ReactNode;
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
  readonly onWall: (isWall: boolean) => void;
}

function Controls({ state, at, isPaused, onPause, onWall }: ControlsProps) {
  const word =
    state === 'paused' ? words.states.paused(at === undefined ? '' : formatClock(at)) : words.states[state];
  const Icon = isPaused ? Play : Pause;
  return (
    <div className="flex items-center gap-2">
      <span role="status" className="mr-1">
        <Signal tone={TONES[state]}>{word}</Signal>
      </span>
      <Button onClick={() => onPause(!isPaused)}>
        <Icon aria-hidden className="size-3.5" />
        {isPaused ? words.resume : words.pause}
      </Button>
      <Button className="max-md:hidden" onClick={() => onWall(true)}>
        <Maximize aria-hidden className="size-3.5" />
        {words.wall}
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
