import type { LimitChange } from '../engine.ts';
import type { Call, Line, Units, Waiter, Window } from './model.ts';
import { touch } from './places.ts';
import { NO_LIMIT } from './window.ts';

/** A limit of an ask: the newest value counts that those who wait have seen. */
export function applyLimit(
  { state }: Call,
  target: Window | Units,
  asked: { readonly limit: number; readonly version: number },
): void {
  const known = state.line?.limits.get(target.policyId);
  if (known === undefined || known.version < asked.version) {
    if (known !== undefined) {
      known.version = asked.version;
      known.limit = asked.limit;
    }
    setLimit(state.line, target, asked.limit);
  } else setLimit(state.line, target, known.limit);
}

/** While it waits, a waiter's limits are kept, so that they can change. */
export function keepLimits(line: Line, { candidates }: Waiter, version: number): void {
  for (const target of candidates.flatMap(({ limits }) => limits)) {
    if (!line.limits.has(target.policyId))
      line.limits.set(target.policyId, { key: target.key, version, limit: target.limit });
  }
}

export function changeLimits(call: Call, version: number, changes: readonly LimitChange[]): void {
  const { line, windows, units } = call.state;
  for (const { policyId, limit } of changes) {
    const known = line?.limits.get(policyId);
    if (known === undefined || known.version > version) continue;
    known.version = version;
    known.limit = limit ?? NO_LIMIT;
    const target = windows.get(known.key) ?? units.get(known.key);
    if (target !== undefined) setLimit(line, target, known.limit);
  }
}

function setLimit(line: Line | null, target: Window | Units, limit: number): void {
  if (target.limit === limit) return;
  target.limit = limit;
  if ('paceKnown' in target) target.paceKnown.nowMs = -1;
  touch(line, target.key);
}
