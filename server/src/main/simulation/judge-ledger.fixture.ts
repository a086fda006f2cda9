import { attemptsOfRow } from '../../store/ledger/attempts-of-row.ts';
import type { Arrival, JudgeDeps, Seen } from './seen.fixture.ts';

/** A killed gateway loses what it learned so shortly before. */
const JUST_BEFORE_MS = 1_500;

/**
 * Every dispatched request has its row, and so has every other that ended, unless its gateway died just then. No row is without
 * a request, and what the provider reported for each attempt is what the row says.
 */
export function judgeLedger(deps: JudgeDeps, seen: Seen): string[] {
  const { ledger } = deps;
  const found: string[] = [];
  for (const arrival of seen.arrivals.values()) found.push(...judgeRow(deps, seen, arrival));
  for (const requestId of ledger.rows.keys())
    if (!seen.arrivals.has(requestId)) found.push(`row: ${requestId} never arrived`);
  return found;
}

function judgeRow({ ledger, provider, store }: JudgeDeps, seen: Seen, arrival: Arrival): string[] {
  const { requestId, by, connection, endedMs } = arrival;
  const row = ledger.rows.get(requestId);
  const attempts = provider.log.filter((entry) => entry.requestId === requestId);
  const stoppedMs = by.stoppedMs ?? Number.POSITIVE_INFINITY;
  const survived = endedMs !== null && endedMs + JUST_BEFORE_MS < stoppedMs;
  // What a store lost before the ledger had it, its gateway has; unless it is gone too.
  const isExcused = seen.lossesMs.length > 0 && (by.stoppedMs !== null || store.unnoticedLosses() > 0);
  if (row === undefined) {
    // A request that no provider saw has only the store to keep its row.
    const isOwed = attempts.length > 0 || (survived && seen.lossesMs.length === 0);
    return isOwed && !isExcused ? [`row: ${requestId} has none, with ${attempts.length} attempts`] : [];
  }
  const last = attempts.at(-1);
  const end = connection.ended();
  if (last?.isReported !== true || end?.how !== 'answered' || end.status !== 200 || !survived || isExcused)
    return [];
  const told = attemptsOfRow(row)
    .flatMap((sent) => (sent.source === 'reported' ? `${sent.input_tokens}+${sent.output_tokens}` : []))
    .join();
  const wanted = attempts
    .flatMap((entry) => (entry.isReported ? `${entry.inputTokens}+${entry.outputTokens}` : []))
    .join();
  return told === wanted ? [] : [`usage: ${requestId} was told ${told} instead of ${wanted}`];
}
