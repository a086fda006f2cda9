import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ChildServer,
  makeDirectory,
  removeDirectory,
  startChild,
  waitUntilServing,
} from './child-server.ts';
import { freePort } from './free-port.ts';
import { redisCall } from './redis-client.ts';
import { mountSmallDisk, type SmallDisk } from './small-disk.ts';

/** A Redis server of one's own. Without `appendonly` it comes back empty from a kill. */
export interface PrivateRedis {
  readonly url: string;
  readonly port: number;
  /** With `tls` only; the other address stays without. */
  readonly tlsUrl: string | null;
  /** With `diskMb` only. */
  readonly disk: SmallDisk | null;
  stop(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Again, on the same port and data, with these variables in its environment. */
  start(env?: Readonly<Record<string, string>>): Promise<void>;
  /** SIGSTOP: connections stay open and nothing is answered. */
  pause(): void;
  resume(): void;
  /** Of one that is dead and keeps a log (`appendonly`): the last bytes of it, or all, are lost, and with them the script that they cut. */
  loseWrites(bytes: number | 'all'): void;
  remove(): Promise<void>;
}

export interface RedisServerOptions {
  readonly appendonly?: boolean;
  readonly cluster?: boolean;
  readonly diskMb?: number;
  /** Also accepts TLS, with this certificate. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

export async function startRedis(options: RedisServerOptions = {}): Promise<PrivateRedis> {
  const directory = makeDirectory('redis');
  const disk = options.diskMb === undefined ? null : mountSmallDisk(directory, options.diskMb);
  const port = await freePort();
  const tls = options.tls === undefined ? null : await tlsOf(directory, options.tls);
  const settings = {
    port,
    bind: '127.0.0.1',
    dir: directory,
    save: '',
    appendonly: options.appendonly ? 'yes' : 'no',
    'cluster-enabled': options.cluster ? 'yes' : 'no',
    'cluster-node-timeout': '2000',
    ...tls?.settings,
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  let child: ChildServer | undefined;

  async function launch(env: Readonly<Record<string, string>> = {}): Promise<void> {
    const started = startChild(process.env['RELAY_REDIS_SERVER'] || 'redis-server', args, {
      cwd: directory,
      env,
    });
    child = started;
    await waitUntilServing(started, 'Redis', async () => {
      await redisCall(port, 'PING');
    });
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
    if (child === undefined) throw new Error('Redis is not running');
    return child;
  }

  await launch();
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    tlsUrl: tls === null ? null : `rediss://127.0.0.1:${tls.port}`,
    disk,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    async start(env) {
      if (child !== undefined) throw new Error('Redis is already running');
      await launch(env);
    },
    pause: () => running().signal('SIGSTOP'),
    resume: () => running().signal('SIGCONT'),
    loseWrites(bytes) {
      if (child !== undefined) throw new Error('Redis is running');
      const logs = join(directory, 'appendonlydir');
      if (bytes === 'all') {
        rmSync(logs, { recursive: true });
        return;
      }
      const newest = readdirSync(logs)
        .filter((name) => name.endsWith('.incr.aof'))
        .sort()
        .at(-1);
      if (newest === undefined) throw new Error('Redis keeps no log');
      const path = join(logs, newest);
      truncateSync(path, Math.max(0, statSync(path).size - bytes));
      removeTornScript(logs);
    },
    async remove() {
      await end('SIGKILL');
      removeDirectory(directory);
    },
  };
}

/**
 * Redis 7.0 leaves the beginning of a script in its log that was cut within it, and at its next start adds that to the script that was written after it;
 * docs/operate/redis.md says what an operator does. A replica that was behind never has half a script.
 */
function removeTornScript(logs: string): void {
  const manifest = join(logs, 'appendonly.aof.manifest');
  const { status, stdout, error } = spawnSync('redis-check-aof', ['--fix', manifest], {
    input: 'y\n',
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error('redis-check-aof could not mend the log', { cause: error ?? stdout });
}

async function tlsOf(directory: string, { key, cert }: { readonly key: string; readonly cert: string }) {
  const port = await freePort();
  const [keyFile, certFile] = [join(directory, 'server.key'), join(directory, 'server.cert')];
  writeFileSync(keyFile, key, { mode: 0o600 });
  writeFileSync(certFile, cert);
  return {
    port,
    settings: {
      'tls-port': port,
      'tls-key-file': keyFile,
      'tls-cert-file': certFile,
      'tls-ca-cert-file': certFile,
      'tls-auth-clients': 'no',
    },
  };
}
