import { entryIn } from '../kit/entry-in.ts';
import { type FlowsAsk, isAsked } from './live-flows.ts';

const SECOND_MS = 1_000;
const SECONDS = 60;

interface Fallen {
  readonly laneId: string | null;
  readonly userId: string;
  readonly keyId: string | null;
  count: number;
}

/** Fallbacks of the last minute in this process. What it remembers is bounded by the requests that it can serve in a minute. */
export interface RecentFallbacks {
  note(organizationId: string, about: Pick<Fallen, 'laneId' | 'userId' | 'keyId'>, nowMs: number): void;
  /** By lane. */
  of(ask: FlowsAsk, nowMs: number): Map<string | null, number>;
}

export function createRecentFallbacks(): RecentFallbacks {
  /** Second → organization → lane and user. The oldest second is first. */
  const seconds = new Map<number, Map<string, Map<string, Fallen>>>();

  function forget(second: number): void {
    for (const known of seconds.keys()) {
      if (known > second - SECONDS) return;
      seconds.delete(known);
    }
  }

  return {
    note(organizationId, { laneId, userId, keyId }, nowMs) {
      const second = Math.floor(nowMs / SECOND_MS);
      forget(second);
      const ofOrganization = entryIn(
        entryIn(seconds, second, () => new Map<string, Map<string, Fallen>>()),
        organizationId,
        () => new Map<string, Fallen>(),
      );
      const key = `${laneId ?? ''} ${userId} ${keyId ?? ''}`;
      entryIn(ofOrganization, key, () => ({ laneId, userId, keyId, count: 0 })).count += 1;
    },
    of(ask, nowMs) {
      forget(Math.floor(nowMs / SECOND_MS));
      const counts = new Map<string | null, number>();
      for (const organizations of seconds.values()) {
        for (const fallen of organizations.get(ask.organizationId)?.values() ?? []) {
          if (!isAsked(ask, fallen)) continue;
          counts.set(fallen.laneId, (counts.get(fallen.laneId) ?? 0) + fallen.count);
        }
      }
      return counts;
    },
  };
}
