import { candidateOf } from './fitting.ts';
import type { Call, Candidate, Lease, Line, Waiter } from './model.ts';
import { markRelease, paceNextMs } from './pace.ts';
import { leave, startTag } from './queues.ts';
import { spend } from './window.ts';

/** What a lower class is owed for each request that goes ahead of it: one in nine, so that it has a tenth with some to spare. */
const LOWER_CLASS_CREDIT = 1 / 8;

/** Charges a candidate now. A waiter leaves the line, and its reservation with it. */
export function dispatch(call: Call, lease: Lease, waiter: Waiter, on: number): void {
  const { state, nowMs } = call;
  const { line } = state;
  const candidate = candidateOf(waiter, on);
  // The pace before its own reservation is taken out of the plan.
  const nexts = candidate.charges.map(({ window }) => paceNextMs(window, nowMs));
  for (const [index, { window, cost }] of candidate.charges.entries()) {
    spend(window, nowMs, cost);
    markRelease(window, nowMs, nexts[index] ?? 0);
  }
  for (const { holders } of candidate.units) holders.add(lease.operationId);
  lease.state = 'dispatched';
  lease.candidate = on;
  lease.dispatchedMs = nowMs;
  lease.charges = candidate.charges;
  lease.units = candidate.units;
  lease.limits = candidate.limits;
  if (line === null) return;
  noteService(line, waiter, candidate);
  if (waiter.queue !== null) leave(call, line, waiter);
}

function noteService(line: Line, { rank, caller, queue }: Waiter, candidate: Candidate): void {
  let share = 0;
  for (const { window, cost } of candidate.charges) {
    // A limit may be 0.
    if (cost > 0) share = Math.max(share, cost / window.limit);
    owe(line, window.key, rank);
  }
  for (const units of candidate.units) {
    share = Math.max(share, 1 / units.limit);
    owe(line, units.key, rank);
  }
  const tag = queue?.tag ?? startTag(line, rank, caller);
  const startedAt = Math.max(startTag(line, rank, caller), tag);
  line.virtual[rank] = Math.max(line.virtual[rank] ?? 0, tag);
  line.served[rank]?.set(caller, startedAt + share);
}

/** Every dispatch ahead of a lower class adds to what that class is owed at this place. */
function owe({ places }: Line, key: string, servedRank: number): void {
  const place = places.get(key);
  if (place === undefined) return;
  for (const rank of [1, 2]) {
    const owed = place.credit[rank] ?? 0;
    if (rank === servedRank) place.credit[rank] = Math.max(0, owed - 1);
    else if (rank > servedRank && (place.queues[rank]?.length ?? 0) > 0)
      place.credit[rank] = Math.min(1, owed + LOWER_CLASS_CREDIT);
  }
}
