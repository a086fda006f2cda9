// Loaded into the server's process by `--import`: measures the event loop and the memory from inside, and
// answers over a socket file. The server itself knows nothing of it.
import { createServer } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { isMainThread } from 'node:worker_threads';

export interface ProbeReading {
  /** Time between two turns of the loop that were asked for a millisecond apart. */
  readonly loopDelayP99Ms: number;
  readonly loopDelayMaxMs: number;
  readonly rssBytes: number;
  readonly heapBytes: number;
  /** Buffers and other memory outside the heap that the heap holds on to. */
  readonly externalBytes: number;
  readonly cpuMs: number;
}

const RESOLUTION_MS = 1;
const loopDelay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

function read(): ProbeReading {
  const memory = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return {
    loopDelayP99Ms: loopDelay.percentile(99) / 1e6,
    loopDelayMaxMs: loopDelay.max / 1e6,
    rssBytes: memory.rss,
    heapBytes: memory.heapUsed,
    externalBytes: memory.external,
    cpuMs: (user + system) / 1_000,
  };
}

/** Twice, because what the first one finalises only the second one frees. */
async function collect(): Promise<void> {
  for (let round = 0; round < 2; round += 1) {
    globalThis.gc?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const path = process.env['RELAY_PROBE_SOCKET'];
// Threads of the process load this as well.
if (path !== undefined && isMainThread) {
  loopDelay.enable();
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    createInterface({ input: socket }).on('line', (command) => {
      if (command === 'reset') loopDelay.reset();
      const ready = command === 'collect' ? collect() : Promise.resolve();
      void ready.then(() => socket.write(`${JSON.stringify(read())}\n`));
    });
    socket.unref();
  });
  server.listen(path);
  server.unref();
}
