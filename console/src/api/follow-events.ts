import { ApiError } from './api-error.ts';
import { createSseReader } from './read-sse.ts';

export type FollowState = 'connecting' | 'live' | 'reconnecting' | 'failed';

export interface FollowDeps {
  /** Opens the stream after the event with this id, or from now on; throws what the server refused. */
  readonly open: (lastId: string | null, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;
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
      const chunks = await deps.open(lastId, connection.signal);
      failures = 0;
      onState('live', null);
      if (lastId === null) deps.onBeginning();
      for await (const { id, data } of readEvents(chunks, connection.heard)) {
        lastId = id ?? lastId;
        if (data.length > 0) deps.onEvents(data);
      }
    } catch (caught) {
      error = caught as Error;
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

/** What each chunk of the network brings, taken together: one change of the page for each of them. */
async function* readEvents(
  chunks: AsyncIterable<Uint8Array>,
  heard: () => void,
): AsyncGenerator<{ readonly id: string | null; readonly data: readonly string[] }> {
  const reader = createSseReader();
  const decoder = new TextDecoder();
  for await (const chunk of chunks) {
    heard();
    const events = reader.push(decoder.decode(chunk, { stream: true }));
    const id = events.findLast((event) => event.id !== null)?.id ?? null;
    yield { id, data: events.map(({ data }) => data) };
  }
}
