import type { Clock } from '../kit/clock.ts';
import { choose } from './choose-candidate.ts';
import type { DeskAnswer, DeskAsk } from './engine.ts';

/** A longer cooldown that a provider asks for is cut to this. */
export const COOLDOWN_MS_MAX = 3_600_000;

export interface CooldownChannel {
  announce(endpointId: string, untilMs: number): void;
  /** Calls back for every announced cooldown, including those of this gateway. */
  subscribe(listener: (endpointId: string, untilMs: number) => void): void;
}

/** Admission without limits while the engine is unavailable: only cooldowns delay a request. Does no I/O. */
export interface LocalCooldowns {
  admit(ask: DeskAsk): DeskAnswer;
  penalize(endpointId: string, untilMs: number): void;
  cooldownUntilMs(endpointId: string): number | null;
}

export function createLocalCooldowns(deps: { clock: Clock; channel: CooldownChannel }): LocalCooldowns {
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
      if (cooldowns.size === 0) return { kind: 'admitted', candidate: 0, windows: [], agoMs: 0 };
      const nowMs = deps.clock.nowMs();
      const placements = ask.candidates.map(({ endpointId }) => ({
        slotMs: cooldownUntilMs(endpointId) ?? nowMs,
        boundBy: null,
        exceeds: null,
        blockedBy: null,
      }));
      const chosen = choose(ask, placements, nowMs);
      if (chosen.kind === 'refused') return chosen;
      if (chosen.kind === 'later') {
        const withinMs = chosen.slotMs - nowMs;
        return { kind: 'wait', candidate: chosen.candidate, withinMs, firm: true, policyId: null };
      }
      return { kind: 'admitted', candidate: chosen.candidate, windows: [], agoMs: 0 };
    },
  };
}
