// `npm run test:admission -- --ops N [--seed N] [--planted] [--cluster]`: runs random histories through
// the Redis engine, on a private server or cluster, and through the memory engine. The last line is one JSON object.
import { startRedis, startRedisCluster } from '@relay/testbed';
import { systemClock } from '../../kit/clock.ts';
import { createLog } from '../../kit/log.ts';
import { createRedis, type Redis } from '../../store/redis/redis.ts';
import { createMemoryEngine } from '../memory/engine.ts';
import { createRedisEngine } from '../redis/engine.ts';
import { createScripts } from '../redis/scripts.ts';
import type { Pair } from './history.fixture.ts';
import { PLANTED } from './planted-faults.fixture.ts';
import { type HistoryResult, runHistory } from './run-history.fixture.ts';

const OPS_PER_HISTORY = 500;

export interface Comparison {
  ops: number;
  seeds: number;
  violations: number;
  disagreements: number;
  leaks: number;
  /** The first findings, with their seeds. */
  readonly findings: string[];
  readonly answers: Record<string, number>;
}

export async function compareEngines(
  redis: Redis,
  options: {
    ops: number;
    seed: number;
    rewrite?: (text: string) => string;
    stopAtFirst?: boolean;
    /** For a cluster: a connection to each master, for commands on all keys of a server. */
    masters?: readonly Redis[];
  },
): Promise<Comparison> {
  const masters = options.masters ?? [redis];
  const total: Comparison = {
    ops: 0,
    seeds: 0,
    violations: 0,
    disagreements: 0,
    leaks: 0,
    findings: [],
    answers: {},
  };
  for (let seed = options.seed; total.ops < options.ops; seed += 1) {
    for (const master of masters) await master.run(['FLUSHALL']);
    const result = await runHistory(
      pairOf(redis, masters, options.rewrite),
      seed,
      Math.min(OPS_PER_HISTORY, options.ops),
    );
    addUp(total, result);
    if (options.stopAtFirst === true && total.findings.length > 0) break;
  }
  return total;
}

function pairOf(redis: Redis, masters: readonly Redis[], rewrite?: (text: string) => string): Pair {
  let nowMs = 0;
  const appended: string[] = [];
  return {
    reference: createMemoryEngine({
      clock: { nowMs: () => nowMs },
      append: ({ record }) => appended.push(`r,${record}`),
      appendExpired: (draft, candidate) => appended.push(`x,${draft},c,${candidate}`),
      wake: () => undefined,
    }),
    subject: createRedisEngine({
      scripts: createScripts(redis, rewrite),
      gatewayId: 'gateway',
      nowMs: () => nowMs,
    }),
    setNow: (value) => {
      nowMs = value;
    },
    async leftovers() {
      const keys = await Promise.all(masters.map((master) => master.run(['KEYS', '*']) as Promise<string[]>));
      const left = keys.flat().filter((key) => /:(?:lease|queue|line|holders):|:expiry$/.test(key));
      const streams = keys.flat().filter((key) => key.endsWith(':usage'));
      const entries = await Promise.all(
        streams.map((key) => redis.run(['XRANGE', key, '-', '+'], key) as Promise<[string, string[]][]>),
      );
      const found = entries.flat().map(([, fields]) => fields.join(','));
      return [...left, ...differences(appended, found)];
    },
  };
}

/** Elements of one list that the other lacks, in any order. */
function differences(expected: readonly string[], found: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const each of found) counts.set(each, (counts.get(each) ?? 0) + 1);
  for (const each of expected) counts.set(each, (counts.get(each) ?? 0) - 1);
  return [...counts].flatMap(([each, count]) => (count === 0 ? [] : [`${count} too many of ${each}`]));
}

function addUp(total: Comparison, result: HistoryResult): void {
  total.ops += result.ops;
  total.seeds += 1;
  total.violations += result.violations.length;
  total.disagreements += result.disagreements.length;
  total.leaks += result.leaks.length;
  total.findings.push(...[...result.disagreements, ...result.violations, ...result.leaks].slice(0, 3));
  for (const [kind, count] of Object.entries(result.answers))
    total.answers[kind] = (total.answers[kind] ?? 0) + count;
}

function numberAfter(args: readonly string[], flag: string, fallback: number): number {
  const at = args.indexOf(flag);
  return at < 0 ? fallback : Number(args[at + 1]);
}

async function start(
  cluster: boolean,
): Promise<{ redis: Redis; masters: readonly Redis[]; end(): Promise<void> }> {
  const connect = async (url: string) => {
    const options = { url, clock: systemClock, log: createLog('warn'), commandTimeoutMs: 10_000 };
    const redis = createRedis(options);
    await redis.whenReady(5_000);
    return redis;
  };
  const server = cluster ? await startRedisCluster() : await startRedis();
  const urls = 'urls' in server ? server.urls : [server.url];
  const redis = await connect(urls.join(','));
  const masters = await Promise.all(urls.map(connect));
  return {
    redis,
    masters,
    async end() {
      for (const each of [redis, ...masters]) await each.close();
      await server.remove();
    },
  };
}

async function main(args: readonly string[]): Promise<number> {
  const ops = numberAfter(args, '--ops', 50_000);
  const seed = numberAfter(args, '--seed', Date.now() % 1_000_000);
  const { redis, masters, end } = await start(args.includes('--cluster'));
  let failed = false;
  process.stdout.write(`first seed ${seed}\n`);
  if (args.includes('--planted')) {
    const caught: Record<string, boolean> = {};
    for (const { name, plant } of PLANTED) {
      const found = await compareEngines(redis, { ops, seed, masters, rewrite: plant, stopAtFirst: true });
      caught[name] = found.findings.length > 0;
      failed ||= !caught[name];
      process.stdout.write(`${name}: ${found.findings[0] ?? 'not caught'}\n`);
    }
    process.stdout.write(`${JSON.stringify({ planted: PLANTED.length, caught })}\n`);
  } else {
    const { findings, answers, ...figures } = await compareEngines(redis, { ops, seed, masters });
    for (const finding of findings.slice(0, 20)) process.stdout.write(`${finding}\n`);
    process.stdout.write(`answers ${JSON.stringify(answers)}\n${JSON.stringify(figures)}\n`);
    failed = findings.length > 0;
  }
  await end();
  return failed ? 1 : 0;
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
