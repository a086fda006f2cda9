import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@relay/testbed';
import { type RelayProcess, runRelay, startRelay } from '../harness/relay-process.ts';
import { spooledIn } from '../harness/spooled-in.ts';
import { afterMs } from '../harness/until.ts';
import type { Member } from './fleet.ts';

/** Long: this run tests whether it starts, not how fast. */
const START_MS_MAX = 180_000;

/** `relay start` on one directory, killed and started again. */
export interface EmbeddedGateway {
  readonly member: Member;
  readonly url: string;
  readonly directory: string;
  /** Where it writes the rows of the ledger as files. */
  readonly usageFiles: string;
  readonly adminToken: string;
  readonly apiToken: string;
  /** How often it was killed, and how often it has started. */
  counts(): { kills: number; opened: number };
  start(): Promise<void>;
  kill(): Promise<void>;
  /** Starts it and kills it after this delay, listening or not. */
  killStarting(afterMs: number): Promise<void>;
  /** Names of files that still hold usage. */
  spooled(): string[];
  /** Sends SIGTERM and returns the exit code. */
  stop(): Promise<number | null>;
  /** Runs `relay migrate --from` and returns its output, or throws with its error. */
  moveTo(databaseUrl: string): Promise<string>;
  warnings(): string[];
  remove(): void;
}

export async function makeEmbeddedGateway(): Promise<EmbeddedGateway> {
  const parent = mkdtempSync(join(tmpdir(), 'relay-chaos-'));
  const remove = () => rmSync(parent, { recursive: true, force: true });
  process.once('exit', remove);
  const directory = join(parent, 'data');
  const port = await freePort();
  const [adminToken, apiToken] = [randomSecret(), randomSecret()];
  const env = {
    RELAY_API_TOKEN: apiToken,
    RELAY_ADMIN_TOKEN: adminToken,
    RELAY_ALLOW_PRIVATE_NETWORKS: '127.0.0.1/32',
    RELAY_USAGE_FILES_DIR: join(parent, 'usage'),
    RELAY_USAGE_FILES_SECONDS: '1',
  };
  const member: Member = { name: 'embedded', role: 'inference', process: null };
  const started: RelayProcess[] = [];
  let [kills, opened] = [0, 0];

  async function start(): Promise<void> {
    member.process = await startRelay({ env, dataDirectory: directory, port, startMsMax: START_MS_MAX });
    started.push(member.process);
    opened += 1;
  }

  return {
    member,
    url: `http://127.0.0.1:${port}`,
    directory,
    usageFiles: env.RELAY_USAGE_FILES_DIR,
    adminToken,
    apiToken,
    counts: () => ({ kills, opened }),
    start,
    async kill() {
      const victim = member.process;
      if (victim === null) throw new Error('it is dead already');
      member.process = null;
      await victim.kill();
      kills += 1;
    },
    async killStarting(delayMs) {
      const killed = new AbortController();
      const starting = startRelay({ env, dataDirectory: directory, port, killed: killed.signal });
      // When it listens before the delay is over, it is killed as usual.
      const over = starting.then(
        (process) => process.kill(),
        () => undefined,
      );
      await afterMs(delayMs);
      killed.abort();
      await over;
      kills += 1;
    },
    spooled: () => spooledIn(join(directory, 'spool')),
    async stop() {
      const code = (await member.process?.stop()) ?? null;
      member.process = null;
      return code;
    },
    moveTo: (databaseUrl) => runRelay(['migrate', '--from', directory, '--to', databaseUrl], env),
    warnings: () =>
      started.flatMap(({ logs }) =>
        logs.filter(({ level }) => level === 'warn' || level === 'error').map((line) => JSON.stringify(line)),
      ),
    remove,
  };
}

function randomSecret(): string {
  return randomBytes(24).toString('base64url');
}
