import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import {
  type ChildServer,
  makeDirectory,
  removeDirectory,
  startChild,
  waitUntilServing,
} from './child-server.ts';
import { freePort } from './free-port.ts';

/** A NATS server of one's own, with JetStream on disk. */
export interface PrivateNats {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Again, on the same port and data. */
  start(): Promise<void>;
  /** SIGSTOP: connections stay open and nothing is answered. */
  pause(): void;
  resume(): void;
  remove(): Promise<void>;
}

/** `config`: more of its configuration file. */
export async function startNats(options: { readonly config?: string } = {}): Promise<PrivateNats> {
  const directory = makeDirectory('nats');
  const port = await freePort();
  const configFile = join(directory, 'nats.conf');
  const own = `listen: "127.0.0.1:${port}"\njetstream { store_dir: "${join(directory, 'store')}" }\n`;
  writeFileSync(configFile, own + (options.config ?? ''));
  let child: ChildServer | undefined;

  async function start(): Promise<void> {
    if (child !== undefined) throw new Error('NATS is already running');
    // Debian has it where only root looks.
    const env = { PATH: `${process.env['PATH']}:/usr/sbin` };
    const started = startChild('nats-server', ['-c', configFile], { cwd: directory, env });
    child = started;
    await waitUntilServing(started, 'NATS', () => greeted(port));
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const ending = child;
    if (ending === undefined) return;
    ending.signal(signal);
    // A paused process takes SIGTERM only when it runs again.
    if (signal !== 'SIGKILL') ending.signal('SIGCONT');
    await ending.exited();
    child = undefined;
  }

  function running(): ChildServer {
    if (child === undefined) throw new Error('NATS is not running');
    return child;
  }

  await start();
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    start,
    pause: () => running().signal('SIGSTOP'),
    resume: () => running().signal('SIGCONT'),
    async remove() {
      await end('SIGKILL');
      removeDirectory(directory);
    },
  };
}

/** The server speaks first. */
async function greeted(port: number): Promise<void> {
  const socket = createConnection(port, '127.0.0.1');
  try {
    await once(socket, 'data');
  } finally {
    socket.destroy();
  }
}
