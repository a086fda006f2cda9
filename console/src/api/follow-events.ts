import { readEventBatches } from '@relay/contract/client';
import { ApiError } from '../errors/api-error.ts';

export type FollowState = 'connecting' | 'live' | 'reconnecting' | 'failed';

export interface FollowDeps {
  /** Opens the stream after the event with this id, or from now on; throws what the server refused. */
  readonly open: (lastId: string | null, signal: AbortSignal) => Promise<ReadableStream<Uint8Array> | null>;
  readonly onState: (state: FollowState, error: Error | null) => void;
  /** The stream is open and begins with this moment: whatever is older has to be read elsewhere. */
  readonly onBeginning: () => void;
  readonly onEvents: (data: readonly string[]) => void;
  readonly signal: AbortSignal;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
}

const PAUSE_MS_FIRST = 500;
const PAUSE_MS_MAX = 15_000;
/** The server says something every fifteen seconds; a connection that is silent for longer is dead. */
const SILENT_MS_MAX = 40_000;

/** Follows a stream of events until it is told to stop. A connection that breaks is made again, after the event that came last. */
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
    // Half of the pause is left to chance, so that those who lost one server do not come to the next all at once.
    const pauseMs = Math.min(PAUSE_MS_MAX, PAUSE_MS_FIRST * 2 ** failures);
    failures += 1;
    await deps.pause(pauseMs * (0.5 + deps.random() / 2), signal);
  }
}

/** What was refused will be refused again, but for a place among too many. */
function isFinal({ status }: ApiError): boolean {
  return status < 500 && status !== 429;
}

/** A signal that also ends the connection when nothing was heard for too long. */
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
