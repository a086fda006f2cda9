import type { Clock } from '../kit/clock.ts';
import type { Admission, AdmissionAnswer, AdmissionAsk } from './port.ts';

// An upstream that asks for more quiet than this is asked again after it.
const COOLDOWN_MS_MAX = 3_600_000;

export interface CooldownChannel {
  announce(endpointId: string, untilMs: number): void;
  /** Calls back for every cooldown that any gateway announced, this one's own included. */
  subscribe(listener: (endpointId: string, untilMs: number) => void): void;
}

/** Admission where no policy is in force: only cooldowns of endpoints keep a request waiting. */
export function createUnlimitedAdmission(deps: { clock: Clock; channel: CooldownChannel }): Admission {
  const cooldowns = new Map<string, number>();
  deps.channel.subscribe((endpointId, untilMs) => {
    cooldowns.set(endpointId, Math.max(untilMs, cooldowns.get(endpointId) ?? 0));
  });

  function cooldownUntilMs(endpointId: string): number | null {
    if (cooldowns.size === 0) return null;
    const untilMs = cooldowns.get(endpointId);
    if (untilMs === undefined) return null;
    if (untilMs > deps.clock.nowMs()) return untilMs;
    cooldowns.delete(endpointId);
    return null;
  }

  return {
    cooldownUntilMs,
    penalize(endpointId, untilMs) {
      const boundedMs = Math.min(untilMs, deps.clock.nowMs() + COOLDOWN_MS_MAX);
      cooldowns.set(endpointId, Math.max(boundedMs, cooldowns.get(endpointId) ?? 0));
      deps.channel.announce(endpointId, boundedMs);
    },
    admit(ask) {
      const waits = ask.candidates.map(({ endpoint }) => waitMsFor(cooldownUntilMs(endpoint.id), deps.clock));
      return decide(ask, waits);
    },
  };
}

function waitMsFor(untilMs: number | null, clock: Clock): number {
  return untilMs === null ? 0 : Math.max(0, untilMs - clock.nowMs());
}

/**
 * `preferred` takes the first candidate whose wait fits the budget; `soonest` the first that is free now,
 * else the one that is free first.
 */
function decide(ask: AdmissionAsk, waits: readonly number[]): AdmissionAnswer {
  let chosen = -1;
  let soonest = 0;
  for (const [index, waitMs] of waits.entries()) {
    if (waitMs < (waits[soonest] ?? 0)) soonest = index;
    if (chosen < 0 && waitMs <= ask.waitMsMax) chosen = index;
  }
  if (ask.selection === 'soonest') chosen = (waits[soonest] ?? 0) <= ask.waitMsMax ? soonest : -1;
  const candidate = ask.candidates[chosen];
  const waitMs = waits[chosen];
  if (candidate === undefined || waitMs === undefined) {
    return { kind: 'refused', retryAfterMs: waits[soonest] ?? 0 };
  }
  return waitMs === 0 ? { kind: 'admitted', candidate } : { kind: 'wait', candidate, waitMs };
}
