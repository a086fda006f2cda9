import { execFile } from 'node:child_process';
import { hkdfSync, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { freePort, selfHostedEnvironment, startPostgres, startRedis } from '@relay/testbed';
import { positive } from './command-line.ts';
import { ROOT } from './gateways/gateway.ts';
import { type PinnedProcess, pinToLoadCore, startPinned } from './pinned-process.ts';
import { rssMib } from './process-memory.ts';
import { rounded } from './statistics.ts';

export const KEYS_USAGE = `keys: time to look up API keys in a large table
  --rows N         keys in the table (10000000); loading a million takes minutes and about 0.6 GiB
  --hot N          keys in use, spread over 1% as many organizations (100000)
  --short          a smoke run of a few seconds; its results are not meaningful`;

const FIXTURE = join(ROOT, 'server/src/store/keys/key-load.fixture.ts');
const AT_ONCE = 4;
const WARM_UP_REQUESTS = 3_000;
const OUTPUT_BYTES_MAX = 1_048_576;

type Figures = Record<string, number>;

/** The directory by itself on a table of that size, then a gateway whose callers use the hot keys. */
export async function keys(args: readonly string[]): Promise<Figures> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rows: { type: 'string' },
      hot: { type: 'string' },
      short: { type: 'boolean', default: false },
    },
  });
  const rows = positive('--rows', values.rows ?? (values.short ? '20000' : '10000000'));
  const hot = positive('--hot', values.hot ?? (values.short ? '2000' : '100000'));
  if (hot > rows) throw new Error('--hot must not be above --rows');
  pinToLoadCore();
  const secret = randomBytes(32).toString('base64url');
  const directory = mkdtempSync(join(tmpdir(), 'relay-keys-'));
  const postgres = await startPostgres();
  try {
    const file = join(directory, 'keys');
    const figures = await measureDirectory({ url: postgres.url, rows, hot, secret, file });
    const made = readFileSync(file, 'utf8').split('\n');
    return { ...figures, ...(await measureGateway(postgres.url, secret, made)) };
  } finally {
    rmSync(directory, { recursive: true });
    await postgres.remove();
  }
}

/** In a process of its own, because its memory is one of the figures. */
async function measureDirectory(setup: {
  readonly url: string;
  readonly rows: number;
  readonly hot: number;
  readonly secret: string;
  readonly file: string;
}): Promise<Figures> {
  const pepper = Buffer.from(hkdfSync('sha256', setup.secret, '', 'relay key pepper', 32)).toString('hex');
  const options = {
    url: setup.url,
    rows: String(setup.rows),
    hot: String(setup.hot),
    pepper,
    'keys-file': setup.file,
  };
  const running = promisify(execFile)(
    process.execPath,
    ['--expose-gc', FIXTURE, ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])],
    { maxBuffer: OUTPUT_BYTES_MAX },
  );
  const killOnExit = () => running.child.kill('SIGKILL');
  process.once('exit', killOnExit);
  const { stdout } = await running.finally(() => process.off('exit', killOnExit));
  return JSON.parse(stdout) as Figures;
}

async function measureGateway(
  databaseUrl: string,
  secret: string,
  made: readonly string[],
): Promise<Figures> {
  const redis = await startRedis();
  try {
    const { apiToken, env } = selfHostedEnvironment({ DATABASE_URL: databaseUrl, REDIS_URL: redis.url });
    const gateway = await startGateway({ ...env, RELAY_ACCOUNTS: 'true', RELAY_AUTH_SECRET: secret });
    try {
      await ask(gateway, Array(WARM_UP_REQUESTS).fill(apiToken));
      const rssBefore = rssMib(gateway.pid);
      const cold = await ask(gateway, made);
      const hot = await ask(gateway, made);
      const rssAfter = rssMib(gateway.pid);
      return {
        gateway_cold_ms_p50: quantile(cold, 0.5),
        gateway_cold_ms_p99: quantile(cold, 0.99),
        gateway_hot_ms_p50: quantile(hot, 0.5),
        gateway_hot_ms_p99: quantile(hot, 0.99),
        gateway_rss_mib_without: rounded(rssBefore, 0),
        gateway_rss_mib_with: rounded(rssAfter, 0),
      };
    } finally {
      await gateway.stop();
    }
  } finally {
    await redis.remove();
  }
}

async function startGateway(env: Readonly<Record<string, string>>): Promise<PinnedProcess> {
  const port = await freePort();
  return startPinned({
    name: 'relay',
    core: 'gateway',
    port,
    args: [join(ROOT, 'cli/bin/relay.js'), 'serve', '--role', 'all'],
    env: { ...env, RELAY_HTTP_ADDR: `127.0.0.1:${port}` },
  });
}

/** One request with each of the keys; answers what each took, in milliseconds. */
async function ask({ port }: PinnedProcess, bearers: readonly string[]): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const tookMs: number[] = [];
  let next = 0;
  const one = async () => {
    for (let index = next++; index < bearers.length; index = next++) {
      const startMs = performance.now();
      const status = await statusOf(port, bearers[index] ?? '', agent);
      if (status !== 200) throw new Error(`a key was answered ${status}`);
      tookMs.push(performance.now() - startMs);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  agent.destroy();
  return tookMs;
}

function statusOf(port: number, bearer: string, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${bearer}` };
    const sending = request({ port, host: '127.0.0.1', path: '/v1/models', headers, agent }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0));
    });
    sending.once('error', reject);
    sending.end();
  });
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return rounded(sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? 0, 3);
}
