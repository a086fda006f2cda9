import { setTimeout as sleep } from 'node:timers/promises';
import { type CoreUse, startCoreUse } from '../cpu-time.ts';
import { GATEWAY_CORE } from '../pinned-process.ts';
import { type ClientConnection, openConnection } from './client-connection.ts';

/** Connections find their upstream counterparts before the clock starts. */
const RAMP_MS = 150;
/** How long responses in flight may take after the end of the slice. */
const DRAIN_MS_MAX = 300;
/** Work that one gateway leaves behind must not count for the next. */
const REST_MS = 30;

/** CPU time is the gateway's, user and system, all threads. */
export interface LoadSlice extends CoreUse {
  readonly requests: number;
  /** Requests answered in all, those before and after the measured time included. */
  readonly answered: number;
  readonly frames: number;
}

export interface LoadOptions {
  readonly port: number;
  readonly pid: number;
  /** What a connection sends next. */
  readonly nextRequest: () => Buffer;
  readonly connections: number;
  readonly sliceMs: number;
  /** Streams are cut at the end of the slice instead of being waited for. */
  readonly streaming: boolean;
}

/** As many requests as the gateway can answer, one after the other on each connection, for the time of a slice. */
export async function loadSlice(options: LoadOptions): Promise<LoadSlice> {
  const connections: ClientConnection[] = [];
  let requests = 0;
  let wholeFrames = 0;
  let stopping = false;
  let busy = 0;
  let failure: Error | null = null;
  const events = {
    onResponse(connection: ClientConnection) {
      requests += 1;
      wholeFrames += connection.reader.frames;
      if (stopping) busy -= 1;
      else connection.send(options.nextRequest());
    },
    onFailure(error: Error) {
      failure ??= error;
    },
  };
  const frames = () =>
    wholeFrames + connections.reduce((sum, { reader }) => sum + (reader.complete ? 0 : reader.frames), 0);
  const reading = () => ({ requests, frames: options.streaming ? frames() : 0 });
  try {
    for (let index = 0; index < options.connections; index += 1)
      connections.push(await openConnection(options.port, events));
    busy = connections.length;
    for (const connection of connections) connection.send(options.nextRequest());
    await sleep(RAMP_MS);
    const use = startCoreUse(options.pid, GATEWAY_CORE);
    const before = reading();
    await sleep(options.sliceMs);
    const used = use();
    const after = reading();
    stopping = true;
    const drainEndMs = performance.now() + DRAIN_MS_MAX;
    while (!options.streaming && busy > 0 && failure === null && performance.now() < drainEndMs)
      await sleep(2);
    if (failure !== null) throw failure;
    return {
      ...used,
      requests: after.requests - before.requests,
      answered: requests,
      frames: after.frames - before.frames,
    };
  } finally {
    for (const connection of connections) connection.close();
    await sleep(REST_MS);
  }
}
