import { entryIn } from '../kit/entry-in.ts';
import type { AdmissionAsk } from './engine.ts';
import { type FlowsAsk, isAsked } from './live-flows.ts';

const SECOND_MS = 1_000;
const SECONDS = 60;

type About = NonNullable<AdmissionAsk['about']>;

interface Counted extends About {
  count: number;
}

/** Counts requests of the last minute in this process. What it remembers is bounded by the requests that it can serve in a minute. */
export interface RecentCounts {
  note(organizationId: string, about: About, nowMs: number): void;
  /** By lane. */
  of(ask: FlowsAsk, nowMs: number): Map<string | null, number>;
}

export function createRecentCounts(): RecentCounts {
  /** Second → organization → lane and user. The oldest second is first. */
  const seconds = new Map<number, Map<string, Map<string, Counted>>>();

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
        entryIn(seconds, second, () => new Map<string, Map<string, Counted>>()),
        organizationId,
        () => new Map<string, Counted>(),
      );
      const key = `${laneId ?? ''} ${userId} ${keyId ?? ''}`;
      entryIn(ofOrganization, key, () => ({ laneId, userId, keyId, count: 0 })).count += 1;
    },
    of(ask, nowMs) {
      forget(Math.floor(nowMs / SECOND_MS));
      const counts = new Map<string | null, number>();
      for (const organizations of seconds.values()) {
        for (const counted of organizations.get(ask.organizationId)?.values() ?? []) {
          if (!isAsked(ask, counted)) continue;
          counts.set(counted.laneId, (counts.get(counted.laneId) ?? 0) + counted.count);
        }
      }
      return counts;
    },
  };
}
