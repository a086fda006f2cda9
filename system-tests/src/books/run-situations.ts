import { randomUUIDv7 } from 'node:crypto';
import { Agent } from 'node:http';
import type { RequestDetail } from '@relay/contract';
import { type AdminClient, adminClient } from '../harness/admin-client.ts';
import { readRequest } from '../harness/request-log.ts';
import { afterMs } from '../harness/until.ts';
import { call } from './callers.ts';
import { type Attempt, attemptsOf, type Evidence, faultsOf, sayRow } from './judge.ts';
import { type Limits, limitsReader, subjectsOf } from './limits.ts';
import { modes } from './modes.ts';
import { completePlay, numbersOf } from './plays.ts';
import { type Bench, endpointsOf, laneOf, type Site } from './site.ts';
import { deadKinds, type Situation } from './situations.ts';
import { type RowWatch, watchRows } from './watch-rows.ts';

const COOLDOWN_MS = 160;
const LONG_COOLDOWN_MS = 2_100;
const CREDENTIAL_MS = 1_150;
/** An endpoint that is down is tried again after so long. */
const DOWN_MS = 5_300;
/** So many failures in a row take it down. */
const DOWN_AFTER = 3;
/** After so long, nothing shows any more that the endpoint serves others. */
const SERVES_MS = 7_000;
const HEALS_MAX = 6;

export interface Judged {
  readonly situation: Situation;
  readonly faults: readonly string[];
  readonly said: string;
}

export interface Books {
  readonly judged: Judged[];
  /** All rows and their attempts, with those that keep endpoints in use. */
  readonly rows: { readonly detail: RequestDetail; readonly attempts: readonly Attempt[] }[];
  requests: number;
  /** What the provider saw. */
  seen: number;
  /** The limits before the first request and after the last. */
  first: Limits;
  last: Limits;
}

/** Runs all situations, one after the other at each bench. */
export async function runSituations(site: Site, all: readonly Situation[]): Promise<Books> {
  const { url, adminToken, admin, postgres } = site.deployment;
  const rows = watchRows(postgres.url);
  const limits = limitsReader(url, adminToken);
  const subjects = await subjectsOf(admin);
  const first = await limits.read();
  const books: Books = { judged: [], rows: [], requests: 0, seen: 0, first, last: first };
  const waiting = [...all];
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  try {
    const shared = { site, rows, limits, subjects, books, agent, admin: adminClient(url, adminToken) };
    await Promise.all(site.benches.map((bench) => new Worker(shared, bench, first).run(waiting)));
    books.last = await limits.read();
  } finally {
    agent.destroy();
    await rows.stop();
  }
  return books;
}

interface Shared {
  readonly site: Site;
  readonly rows: RowWatch;
  readonly limits: ReturnType<typeof limitsReader>;
  readonly subjects: ReadonlyMap<string, string>;
  readonly books: Books;
  readonly agent: Agent;
  readonly admin: AdminClient;
}

class Worker {
  readonly #shared: Shared;
  readonly #bench: Bench;
  readonly #judging: Promise<void>[] = [];
  #before: Limits;
  /** When each endpoint last served another caller, until when it rests, and how often it has failed. */
  readonly #served = new Map<string, number>();
  readonly #restsUntil = new Map<string, number>();
  readonly #failures = new Map<string, number>();

  constructor(shared: Shared, bench: Bench, before: Limits) {
    this.#shared = shared;
    this.#bench = bench;
    this.#before = before;
  }

  async run(waiting: Situation[]): Promise<void> {
    while (waiting.length > 0) {
      const at = waiting.findIndex((situation) => this.#restMs(situation) <= 0);
      const [next] = waiting.splice(Math.max(0, at), 1);
      if (next === undefined) break;
      await afterMs(Math.max(0, this.#restMs(next)));
      await this.#heal(next);
      await this.#perform(next);
    }
    await Promise.all(this.#judging);
  }

  #restMs({ lane, mode }: Situation): number {
    const [first = ''] = endpointsOf(this.#bench, lane, mode.wire);
    return (this.#restsUntil.get(first) ?? 0) - performance.now();
  }

  /** Another caller is served, so that the failures of one caller do not take the endpoint out of the order. */
  async #heal({ lane, mode, index }: Situation): Promise<void> {
    if (lane !== 'followed') return;
    const [first = ''] = endpointsOf(this.#bench, lane, mode.wire);
    for (let tries = 0; tries < HEALS_MAX; tries += 1) {
      if (performance.now() - (this.#served.get(first) ?? Number.NEGATIVE_INFINITY) < SERVES_MS) return;
      const wire = mode.wire === 'messages' ? 'messages' : 'chat';
      const plain = modes.find((each) => each.client === wire && each.wire === wire) ?? mode;
      const scene = { mode: plain, telling: { reports: [numbersOf(index + 3)] } };
      const healing: Situation = {
        index,
        name: `another caller at ${first}`,
        end: 'complete',
        report: 'all',
        companion: 'another caller',
        mode: plain,
        hard: false,
        lane,
        plays: async () => [await completePlay(scene)],
      };
      const seen = await this.#perform(healing, true);
      if (seen.includes(first)) this.#served.set(first, performance.now());
      else await afterMs(CREDENTIAL_MS);
    }
  }

  /** Answers the endpoints that the provider was asked at. The rows are judged later. */
  async #perform(situation: Situation, asOther = false): Promise<readonly string[]> {
    const { site, rows, books, limits, agent } = this.#shared;
    const { lane, mode, hard } = situation;
    const bench = this.#bench;
    const [process] = site.deployment.processes;
    const endpoints = endpointsOf(bench, lane, mode.wire);
    const laneSlug = laneOf(bench, lane, mode.wire, hard);
    const bill = site.provider.expect(endpoints, await situation.plays());
    const tag = randomUUIDv7();
    books.requests += 1;
    const headers = await call(situation, {
      url: site.deployment.url,
      agent,
      key: asOther ? bench.otherKey : bench.key,
      tag,
      lane: laneSlug,
      bill,
    });
    const row = rows.of(tag);
    const requestId = headers?.['x-request-id'];
    if (requestId === undefined) await row;
    else await process?.sync(`settled ${requestId}`).catch(() => undefined);
    const before = this.#before;
    const after = await limits.read();
    this.#before = after;
    bill.end();
    books.seen += bill.requests.length;
    this.#rest(situation, endpoints);
    const evidence = { bench, asOther, laneSlug, bill: bill.requests, before, after, headers };
    this.#judging.push(this.#judge(situation, row, evidence));
    return bill.requests.map(({ endpoint }) => endpoint);
  }

  async #judge(
    situation: Situation,
    row: Promise<readonly string[]>,
    found: Omit<Evidence, 'detail' | 'subjects'>,
  ): Promise<void> {
    const { books, subjects, admin } = this.#shared;
    const ids = await row;
    const [id] = ids;
    const detail = id === undefined ? null : await readRequest(admin, id);
    const told = found.bill.map(({ endpoint, reports }) => `${endpoint} ${JSON.stringify(reports)}`);
    const bill = `bill [${told.join('; ')}]`;
    if (detail === null || ids.length !== 1) {
      books.judged.push({ situation, faults: [`${ids.length} rows`], said: bill });
      return;
    }
    const evidence: Evidence = { ...found, detail, subjects };
    const attempts = attemptsOf(detail);
    books.rows.push({ detail, attempts });
    const faults = faultsOf(evidence);
    if (found.asOther && faults.length === 0) return;
    books.judged.push({ situation, faults, said: `${bill}; ${sayRow(detail, attempts)}` });
  }

  #rest({ rest, lane }: Situation, [first = '']: readonly string[]): void {
    const now = performance.now();
    if (lane === 'throttled') this.#restsUntil.set(first, now + LONG_COOLDOWN_MS);
    if (rest === 'cooldown') this.#restsUntil.set(first, now + COOLDOWN_MS);
    if (rest === 'credential' && lane === 'followed') {
      this.#restsUntil.set(first, now + CREDENTIAL_MS);
      this.#served.delete(first);
    }
    if (!deadKinds.some((kind) => lane === `${kind}, followed`)) return;
    const failures = (this.#failures.get(first) ?? 0) + 1;
    this.#failures.set(first, failures);
    if (failures >= DOWN_AFTER) this.#restsUntil.set(first, now + DOWN_MS);
  }
}
