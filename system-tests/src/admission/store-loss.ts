import { afterMs } from '../harness/until.ts';
import { type Answer, answersOf, ask, errorOf } from './ask.ts';
import type { Fleet } from './fleet.ts';
import { ledgerSums } from './ledger-sums.ts';

export interface OutageResult {
  /** The slowest 503, and how many responses were not a 503. */
  readonly refusedMsMax: number;
  readonly notRefused: readonly string[];
}

export interface FreeResult {
  readonly served: number;
  readonly slowestMs: number;
}

const REQUESTS = 24;

/** With a limit in force and its state unavailable, Relay returns 503 quickly. */
export async function askDuringOutage(fleet: Fleet, model: string, tag: string): Promise<OutageResult> {
  const answers = await burst(fleet, model, tag);
  const wrong = answers.filter(
    (answer) => answer.status !== 503 || errorOf(answer).code !== 'policy_unavailable',
  );
  return {
    refusedMsMax: Math.max(...answers.map(({ answeredAtMs, sentAtMs }) => answeredAtMs - sentAtMs)),
    notRefused: wrong.map(({ status, text }) => `${status} ${text.slice(0, 120)}`),
  };
}

/** Without a limit, the store is not needed. */
export async function serveDuringOutage(fleet: Fleet, model: string, tag: string): Promise<FreeResult> {
  const answers = await burst(fleet, model, tag);
  return {
    served: answers.filter(({ status }) => status === 200).length,
    slowestMs: Math.max(...answers.map(({ answeredAtMs, sentAtMs }) => answeredAtMs - sentAtMs)),
  };
}

function burst(fleet: Fleet, model: string, tag: string): Promise<Answer[]> {
  return answersOf(
    Array.from({ length: REQUESTS }, (_, index) =>
      ask(fleet, { model, tag: `${tag}-${index}`, process: index % fleet.size }),
    ),
  );
}

/** Returns how long it took until the same request was served again. */
export async function untilServed(fleet: Fleet, model: string, tag: string): Promise<number> {
  const startMs = performance.now();
  for (let turn = 0; ; turn += 1) {
    const answers = await answersOf(
      Array.from({ length: fleet.size }, (_, process) =>
        ask(fleet, { model, tag: `${tag}-back-${turn}-${process}`, process }),
      ),
    );
    if (answers.every(({ status }) => status === 200)) return Math.round(performance.now() - startMs);
    if (performance.now() - startMs > 15_000) throw new Error(`not served again: ${answers[0]?.text}`);
    await afterMs(100);
  }
}

/** The lane's rows, once all expected ones are there or no more arrive. */
export async function rowsOf(fleet: Fleet, laneId: string, expected: number): Promise<number> {
  const endMs = performance.now() + 15_000;
  for (;;) {
    const { rows } = await ledgerSums(fleet.deployment.postgres.url, laneId);
    if (rows >= expected || performance.now() > endMs) return rows;
    await afterMs(100);
  }
}
