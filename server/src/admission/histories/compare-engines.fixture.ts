// `npm run test:admission`: compares the two engines over random histories. The last line is one JSON object.
import { parseArgs } from 'node:util';
import { anySeed, runCommand, startRedis, startRedisCluster, wholeNumber } from '@relay/testbed';
import { systemClock } from '../../kit/clock.ts';
import { createLog } from '../../kit/log.ts';
import { nothingAside } from '../../kit/set-aside.fixture.ts';
import { createRedis, type Redis } from '../../store/redis/redis.ts';
import { prefixOfShard } from '../../store/redis/shards.ts';
import { createRedisEngine } from '../redis/engine.ts';
import { createScripts } from '../redis/scripts.ts';
import { listening, type Pair } from './history.fixture.ts';
import { createFaulty, PLANTED, type PlantedFault } from './planted-faults.fixture.ts';
import { alone, startReference } from './reference.fixture.ts';
import { type HistoryResult, runHistory } from './run-history.fixture.ts';

const USAGE = `usage: npm run test:admission -- [--ops N] [--seed N] [--memory | --cluster | --planted]

Runs random histories through the memory engine, checked by the oracle, and through the Redis engine on a private server, which
must give the same results.
  --ops N    how many operations (50000)
  --seed N   repeat the histories of an earlier run
  --memory   the memory engine only
  --cluster  on a cluster of Redis servers
  --planted  plant faults in the memory engine, which the oracle must find
`;

const OPS_PER_HISTORY = 500;
/** Until a release that is on its way has come. */
const RELEASES_WITHIN_MS = 2_000;

export interface Comparison {
  ops: number;
  seeds: number;
  violations: number;
  disagreements: number;
  leaks: number;
  /** The first findings, with their seeds. */
  readonly findings: string[];
  readonly counts: Record<string, number>;
}

export interface CompareOptions {
  readonly ops: number;
  readonly seed: number;
  readonly stopAtFirst?: boolean;
  /** A new pair of engines for each history. */
  readonly start: () => Promise<Pair>;
}

export async function compareEngines(options: CompareOptions): Promise<Comparison> {
  const total: Comparison = {
    ops: 0,
    seeds: 0,
    violations: 0,
    disagreements: 0,
    leaks: 0,
    findings: [],
    counts: {},
  };
  for (let seed = options.seed; total.ops < options.ops; seed += 1) {
    addUp(total, await runHistory(await options.start(), seed, Math.min(OPS_PER_HISTORY, options.ops)));
    if (options.stopAtFirst === true && total.findings.length > 0) break;
  }
  return total;
}

/** The reference, and the Redis engine on an empty store. For a cluster: a connection to each master. */
export async function withRedis(
  redis: Redis,
  masters: readonly Redis[] = [redis],
  rewrite?: (text: string) => string,
): Promise<Pair> {
  for (const master of masters) await master.run(['FLUSHALL']);
  let nowMs = 0;
  const clock = () => nowMs;
  const { told: reference, appended } = startReference(clock);
  const { line, ...told } = listening(clock);
  let batches = 0;
  const scripts = createScripts(redis, rewrite);
  // A call that finds its script missing is sent again, and then runs after later calls. A new master has none.
  for (const master of masters) await createScripts(master, rewrite).load(prefixOfShard(0));
  const engine = createRedisEngine({
    aside: nothingAside,
    scripts,
    gatewayId: 'gateway',
    nowMs: clock,
    line,
    // The common case takes a shorter way, which must not show.
    inFull: () => {
      batches += 1;
      return batches % 3 === 0;
    },
  });
  return {
    reference,
    subject: {
      ...told,
      engine,
      async settled(expected) {
        const untilMs = Date.now() + RELEASES_WITHIN_MS;
        do await new Promise(setImmediate);
        while (told.releases.size < expected && Date.now() < untilMs);
      },
    },
    setNow: (value) => {
      nowMs = value;
    },
    leftovers: () => leftIn(redis, masters, appended),
  };
}

async function leftIn(
  redis: Redis,
  masters: readonly Redis[],
  appended: readonly string[],
): Promise<string[]> {
  const all = await Promise.all(masters.map((master) => master.run(['KEYS', '*']) as Promise<string[]>));
  const keys = all.flat();
  const left = keys.filter((key) =>
    /:(?:line|due|late|wake|leases|expiry|(?:planned|plan|place|queue|size|holders|served|least):.*)$/.test(
      key,
    ),
  );
  const streams = keys.filter((key) => key.endsWith(':usage'));
  const entries = await Promise.all(
    streams.map((key) => redis.run(['XRANGE', key, '-', '+'], key) as Promise<[string, string[]][]>),
  );
  return [
    ...left,
    ...differences(
      appended,
      entries.flat().flatMap(([, fields]) => recordsIn(fields)),
    ),
  ];
}

/** One entry of the stream holds all records of a batch: r and a record, or x and a draft with c and its candidate. */
function recordsIn(fields: readonly string[]): string[] {
  const records: string[] = [];
  for (let at = 0; at < fields.length; at += 2) {
    const isDraft = fields[at] === 'x';
    records.push(fields.slice(at, at + (isDraft ? 4 : 2)).join(','));
    if (isDraft) at += 2;
  }
  return records;
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
  for (const [kind, count] of Object.entries(result.counts))
    total.counts[kind] = (total.counts[kind] ?? 0) + count;
}

async function connect(url: string): Promise<Redis> {
  const redis = createRedis({ url, clock: systemClock, log: createLog('warn'), commandTimeoutMs: 10_000 });
  await redis.whenReady(60_000);
  return redis;
}

/** Where the pairs come from: the reference alone, or with a server of its own. */
async function startStore(where: {
  memory: boolean;
  cluster: boolean;
}): Promise<{ start: () => Promise<Pair>; end(): Promise<void> }> {
  if (where.memory) return { start: async () => alone(), end: async () => undefined };
  const server = where.cluster ? await startRedisCluster() : await startRedis();
  const urls = 'urls' in server ? server.urls : [server.url];
  const redis = await connect(urls.join(','));
  const masters = await Promise.all(urls.map(connect));
  return {
    start: () => withRedis(redis, masters),
    async end() {
      for (const each of [redis, ...masters]) await each.close();
      await server.remove();
    },
  };
}

/** Each fault is planted in the reference and has to be caught by its rule. */
async function plantAll(ops: number, seed: number): Promise<number> {
  const caught: Record<string, boolean> = {};
  for (const [index, fault] of PLANTED.entries()) {
    const found = await findPlanted(fault, index, ops, seed);
    caught[`${fault.rule}: ${fault.name}`] = found !== null;
    process.stdout.write(`${fault.name}: ${found ?? 'not caught'}\n`);
  }
  process.stdout.write(`${JSON.stringify({ planted: PLANTED.length, caught })}\n`);
  return Object.values(caught).includes(false) ? 1 : 0;
}

/** The first finding of the rule that the fault breaks. */
export async function findPlanted(
  fault: PlantedFault,
  index: number,
  ops: number,
  seed: number,
): Promise<string | null> {
  const create = await createFaulty(fault, index);
  for (let done = 0, next = seed; done < ops; next += 1) {
    const { violations, leaks, ops: ran } = await runHistory(alone(create), next, OPS_PER_HISTORY);
    const found = [...violations, ...leaks].find((text) => text.includes(`, ${fault.rule}: `));
    if (found !== undefined) return found;
    done += ran;
  }
  return null;
}

async function main(args: readonly string[]): Promise<number> {
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      ops: { type: 'string', default: '50000' },
      seed: { type: 'string', default: anySeed() },
      memory: flag,
      cluster: flag,
      planted: flag,
    },
  });
  const [ops, seed] = [wholeNumber('--ops', values.ops, 1), wholeNumber('--seed', values.seed)];
  process.stdout.write(`first seed ${seed}\n`);
  if (values.planted) return plantAll(ops, seed);
  const { start, end } = await startStore(values);
  const startedMs = Date.now();
  const { findings, counts, ...figures } = await compareEngines({ ops, seed, start });
  await end();
  for (const finding of findings.slice(0, 20)) process.stdout.write(`${finding}\n`);
  const perSecond = Math.round((figures.ops * 1_000) / (Date.now() - startedMs));
  process.stdout.write(
    `counts ${JSON.stringify(counts)}\n${JSON.stringify({ ...figures, ops_per_second: perSecond })}\n`,
  );
  return findings.length > 0 ? 1 : 0;
}

if (import.meta.main) await runCommand(USAGE, main);
