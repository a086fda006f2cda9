import { median, percentile } from '../statistics.ts';
import { type ClientConnection, openConnection } from './client-connection.ts';

const WARM_UP_REQUESTS = 20;
const REQUESTS_MAX = 200_000;

/** Times from send to last byte. */
export interface LatencySlice {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly requests: number;
}

/** One request at a time on one connection, for the time of a slice. */
export async function latencySlice(options: {
  port: number;
  request: Buffer;
  sliceMs: number;
}): Promise<LatencySlice> {
  let settle: { resolve: () => void; reject: (error: Error) => void } | null = null;
  const connection: ClientConnection = await openConnection(options.port, {
    onResponse: () => settle?.resolve(),
    onFailure: (error) => settle?.reject(error),
  });
  const timesMs: number[] = [];
  try {
    const endMs = performance.now() + options.sliceMs;
    for (let sent = 0; sent < REQUESTS_MAX && performance.now() < endMs; sent += 1) {
      const startMs = performance.now();
      await new Promise<void>((resolve, reject) => {
        settle = { resolve, reject };
        connection.send(options.request);
      });
      if (sent >= WARM_UP_REQUESTS) timesMs.push(performance.now() - startMs);
    }
  } finally {
    connection.close();
  }
  return { p50Ms: median(timesMs), p99Ms: percentile(timesMs, 0.99), requests: timesMs.length };
}
