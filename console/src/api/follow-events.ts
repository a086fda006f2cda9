import { readEventBatches } from '@relay/contract/client';
import { ApiError } from '../errors/api-error.ts';

export type FollowState = 'connecting' | 'live' | 'reconnecting' | 'failed';

export interface FollowDeps {
  /** Opens the stream after the event with this ID, or at the present; throws the server's error. */
  readonly open: (lastId: string | null, signal: AbortSignal) => Promise<ReadableStream<Uint8Array> | null>;
  readonly onState: (state: FollowState, error: Error | null) => void;
  /** The stream starts at the present; read older entries elsewhere. */
  readonly onBeginning: () => void;
  readonly onEvents: (data: readonly string[]) => void;
  readonly signal: AbortSignal;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
}

const PAUSE_MS_FIRST = 500;
const PAUSE_MS_MAX = 15_000;
/** The server sends a comment every 15 seconds; a connection that is silent for longer is dead. */
const SILENT_MS_MAX = 40_000;

/** Follows a stream of events until aborted. Reconnects after failures and resumes after the last event. */
export async function followEvents(deps: FollowDeps): Promise<void> {
  const { signal, onState } = deps;
  let lastId: string | null = null;
  let failures = 0;
  onState('connecting', null);
  while (!signal.aborted) {
    let error: Error | null = null;
    const connection = connect(signal);
    try {
      const body = await deps.open(lastId, connection.signal);
      failures = 0;
      onState('live', null);
      if (lastId === null) deps.onBeginning();
      for await (const events of readEventBatches(body)) {
        connection.heard();
        lastId = events.findLast(({ id }) => id !== null)?.id ?? lastId;
        if (events.length > 0) deps.onEvents(events.map(({ data }) => data));
      }
    } catch (caught) {
      error = caught instanceof Error ? caught : new Error(String(caught));
    } finally {
      connection.close();
    }
    if (signal.aborted) return;
    if (error instanceof ApiError && lastId !== null && error.status === 400) lastId = null;
    else if (error instanceof ApiError && isFinal(error)) return onState('failed', error);
    onState('reconnecting', error);
    // Jitter keeps clients from reconnecting simultaneously after a server restart.
    const pauseMs = Math.min(PAUSE_MS_MAX, PAUSE_MS_FIRST * 2 ** failures);
    failures += 1;
    await deps.pause(pauseMs * (0.5 + deps.random() / 2), signal);
  }
}

/** Retrying helps after server errors and 429 only. */
function isFinal({ status }: ApiError): boolean {
  return status < 500 && status !== 429;
}

/** A signal that also aborts the connection after too long a silence. */
function connect(signal: AbortSignal) {
  const controller = new AbortController();
  const abort = () => controller.abort();
  signal.addEventListener('abort', abort);
  let timer = setTimeout(abort, SILENT_MS_MAX);
  return {
    signal: controller.signal,
    heard() {
      clearTimeout(timer);
      timer = setTimeout(abort, SILENT_MS_MAX);
    },
    close() {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      abort();
    },
  };
}
