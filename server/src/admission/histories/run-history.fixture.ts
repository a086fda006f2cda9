import { LATE_MS } from '../memory/sweep.ts';
import { heard, LEASE_MS } from './client.fixture.ts';
import { createHistory, type History, type Pair } from './history.fixture.ts';
import { advance, happen, sweep } from './history-steps.fixture.ts';

/** By then everybody who waits was served, refused or swept. */
const DRAINED_MS = 700_000;

export interface HistoryResult {
  readonly ops: number;
  readonly disagreements: readonly string[];
  readonly violations: readonly string[];
  readonly leaks: readonly string[];
  /** How often each kind of answer came and each rule was asked, to show that the history was not trivial. */
  readonly counts: Readonly<Record<string, number>>;
}

/** Runs one random history, then lets everything end and looks for leaks. */
export async function runHistory(pair: Pair, seed: number, ops: number): Promise<HistoryResult> {
  const history = createHistory(pair, seed);
  const { findings, random, world } = history;
  history.released = (operationId, release) => heard(history, operationId, release);
  while (history.calls < ops && findings.disagreements.length === 0) {
    await happen(history);
    await advance(history, history.nowMs + random.integer(0, 2 * world.betweenMs));
  }
  await advance(history, history.nowMs + DRAINED_MS);
  history.nowMs += LEASE_MS;
  await sweep(history);
  await advance(history, history.nowMs + LEASE_MS);
  history.nowMs += LATE_MS;
  await sweep(history);
  const violations = [...findings.violations];
  const counts: Record<string, number> = { ...history.answers, retried: history.retried };
  for (const oracle of history.oracles.values()) {
    violations.push(...oracle.violations.map((text) => `seed ${seed}, ${text}`));
    for (const [name, count] of Object.entries(oracle.counts)) counts[name] = (counts[name] ?? 0) + count;
  }
  const isOver = findings.disagreements.length === 0;
  const leaks = isOver ? [...leftInMemory(history), ...(await pair.leftovers())] : [];
  return {
    ops: history.calls,
    disagreements: findings.disagreements,
    // After a disagreement the history was broken off.
    violations: isOver ? violations : [],
    leaks: leaks.map((text) => `seed ${seed}, ${text}`),
    counts,
  };
}

function leftInMemory({ pair, clients }: History): string[] {
  const { memory } = pair.reference.engine;
  const left = [...memory.leases.keys()].map((id) => `lease: ${id} never ended`);
  left.push(...[...clients.keys()].map((id) => `lease: ${id} was never told`));
  for (const [organizationId, { line, windows, units }] of memory.states) {
    if (line !== null) left.push(`lease: ${organizationId} has a line of ${line.waiting.size}`);
    for (const { key, plan, plannedTotal, planned } of windows.values())
      if (plan.length + plannedTotal + planned.size > 0)
        left.push(`lease: ${key} has ${plannedTotal} reserved`);
    for (const { key, holders } of units.values()) if (holders.size > 0) left.push(`lease: ${key} is held`);
  }
  return left;
}
