import { setTimeout as sleep } from 'node:timers/promises';
import { coreBusyMs, processCpuMs } from '../cpu-time.ts';
import { GATEWAY_CORE } from '../pinned-process.ts';
import { type ClientConnection, openConnection } from './client-connection.ts';

/** Connections find their upstream counterparts before the clock starts. */
const RAMP_MS = 150;
/** How long responses in flight may take after the end of the slice. */
const DRAIN_MS_MAX = 300;
/** Work that one gateway leaves behind must not count for the next. */
const REST_MS = 30;

export interface LoadSlice {
  readonly requests: number;
  /** Requests answered in all, those before and after the measured time included. */
  readonly answered: number;
  readonly frames: number;
  /** CPU time of the gateway, user and system, all threads. */
  readonly cpuMs: number;
  readonly elapsedMs: number;
  /** Share of the gateway's core that went to others: the machine was busy when it is not near zero. */
  readonly othersShare: number;
}

export interface LoadOptions {
  readonly port: number;
  readonly pid: number;
  readonly request: Buffer;
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
      else connection.send(options.request);
    },
    onFailure(error: Error) {
      failure ??= error;
    },
  };
  const frames = () =>
    wholeFrames + connections.reduce((sum, { reader }) => sum + (reader.complete ? 0 : reader.frames), 0);
  const reading = () => ({
    requests,
    frames: options.streaming ? frames() : 0,
    cpuMs: processCpuMs(options.pid),
    coreMs: coreBusyMs(GATEWAY_CORE),
    atMs: performance.now(),
  });
  try {
    for (let index = 0; index < options.connections; index += 1)
      connections.push(await openConnection(options.port, events));
    busy = connections.length;
    for (const connection of connections) connection.send(options.request);
    await sleep(RAMP_MS);
    const before = reading();
    await sleep(options.sliceMs);
    const after = reading();
    stopping = true;
    const drainEndMs = performance.now() + DRAIN_MS_MAX;
    while (!options.streaming && busy > 0 && failure === null && performance.now() < drainEndMs)
      await sleep(2);
    if (failure !== null) throw failure;
    const elapsedMs = after.atMs - before.atMs;
    const cpuMs = after.cpuMs - before.cpuMs;
    return {
      requests: after.requests - before.requests,
      answered: requests,
      frames: after.frames - before.frames,
      cpuMs,
      elapsedMs,
      othersShare: Math.max(0, (after.coreMs - before.coreMs - cpuMs) / elapsedMs),
    };
  } finally {
    for (const connection of connections) connection.close();
    await sleep(REST_MS);
  }
}
