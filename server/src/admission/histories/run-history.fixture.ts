import { createHistory, LEASE_MS, type Pair } from './history.fixture.ts';
import { end, step, sweep } from './history-steps.fixture.ts';

export interface HistoryResult {
  readonly ops: number;
  readonly disagreements: readonly string[];
  readonly violations: readonly string[];
  readonly leaks: readonly string[];
  /** How often each kind of answer came, to show that the history was not trivial. */
  readonly answers: Readonly<Record<string, number>>;
}

/** Runs one random history through both engines, then ends everything and looks for leaks. */
export async function runHistory(pair: Pair, seed: number, ops: number): Promise<HistoryResult> {
  const history = createHistory(pair, seed);
  const { disagreements, oracle, answers } = history;
  for (let done = 0; done < ops && disagreements.length === 0; done += 1) await step(history);
  for (const [operationId, entry] of [...history.open]) await end(history, operationId, entry);
  history.nowMs += LEASE_MS * 2;
  await sweep(history);
  const leaks = disagreements.length > 0 ? [] : await pair.leftovers();
  return { ops, disagreements, violations: oracle.violations, leaks, answers };
}
