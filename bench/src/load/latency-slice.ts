import { startCoreUse } from '../cpu-time.ts';
import { GATEWAY_CORE } from '../pinned-process.ts';
import { median, percentile } from '../statistics.ts';
import { type ClientConnection, openConnection } from './client-connection.ts';

const WARM_UP_REQUESTS = 20;
const REQUESTS_MAX = 200_000;

/** Times from send to last byte. */
export interface LatencySlice {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly requests: number;
  /** Share of the gateway's core that went to other processes. */
  readonly othersShare: number;
}

/** One request at a time on one connection, for the time of a slice. */
export async function latencySlice(options: {
  port: number;
  pid: number;
  request: Buffer;
  sliceMs: number;
}): Promise<LatencySlice> {
  let settle: { resolve: () => void; reject: (error: Error) => void } | null = null;
  const connection: ClientConnection = await openConnection(options.port, {
    onResponse: () => settle?.resolve(),
    onFailure: (error) => settle?.reject(error),
  });
  const timesMs: number[] = [];
  const use = startCoreUse(options.pid, GATEWAY_CORE);
  try {
    const endMs = performance.now() + options.sliceMs;
    const isOver = () => performance.now() >= endMs && timesMs.length > 0;
    for (let sent = 0; sent < REQUESTS_MAX && !isOver(); sent += 1) {
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
  return {
    p50Ms: median(timesMs),
    p99Ms: percentile(timesMs, 0.99),
    requests: timesMs.length,
    othersShare: use().othersShare,
  };
}
