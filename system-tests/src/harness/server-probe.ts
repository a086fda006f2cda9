// Loaded into the server's process by `--import`: measures the event loop and the memory from inside, hears what the process has caught up
// with, and answers over a socket file. The server itself knows nothing of it.
import { subscribe } from 'node:diagnostics_channel';
import { EventEmitter, once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { isMainThread } from 'node:worker_threads';

export interface ProbeReading {
  /** Time between two turns of the loop that were asked for a millisecond apart, since `reset`. */
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

/** What this process has caught up with. */
let version = -1;
const settled = new Set<string>();
const SETTLED_MAX = 10_000;
const changes = new EventEmitter().setMaxListeners(0);

function listen(): void {
  subscribe('relay:configuration', (message) => {
    ({ version } = message as { version: number });
    changes.emit('change');
  });
  subscribe('relay:settled', (message) => {
    settled.add((message as { operationId: string }).operationId);
    for (const oldest of settled) {
      if (settled.size <= SETTLED_MAX) break;
      settled.delete(oldest);
    }
    changes.emit('change');
  });
}

/** `configuration VERSION`: it is applied. `settled REQUEST`: nothing is left to settle of the request. */
async function sync(what = '', value = ''): Promise<void> {
  const isReached = () => (what === 'settled' ? settled.has(value) : version >= Number(value));
  while (!isReached()) await once(changes, 'change');
}

async function obey(command: string): Promise<ProbeReading> {
  const [name, ...args] = command.split(' ');
  if (name === 'sync') await sync(...args);
  if (name === 'collect') await collect();
  if (name === 'reset') {
    loopDelay.enable();
    loopDelay.reset();
  }
  return read();
}

function answer(socket: Socket): void {
  socket.on('error', () => socket.destroy());
  createInterface({ input: socket }).on('line', (command) => {
    void obey(command).then((reading) => socket.write(`${JSON.stringify(reading)}\n`));
  });
  socket.unref();
}

const path = process.env['RELAY_PROBE_SOCKET'];
// Threads of the process load this as well.
if (path && isMainThread) {
  listen();
  const server = createServer(answer);
  server.listen(path);
  server.unref();
}
