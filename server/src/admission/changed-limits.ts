import type { Clock } from '../kit/clock.ts';
import { entryIn } from '../kit/entry-in.ts';
import type { AdmissionAsk, CandidateAsk, LimitChange } from './engine.ts';
import { NO_LIMIT } from './memory/window.ts';

/** Longer than any request waits. */
const KEPT_MS = 2 * 3_600_000;

interface Changed {
  readonly version: number;
  readonly limit: number;
}

interface OfOrganization {
  notedMs: number;
  version: number;
  readonly limits: Map<string, Changed>;
}

/**
 * Limits that changed while requests were in flight. Such a request may ask again, after a release that came too late, a failed
 * attempt or an outage, and its ask still has the limits of the configuration that it arrived with. The engine forgets changes
 * when the last request has left the line.
 */
export interface ChangedLimits {
  note(organizationId: string, version: number, changes: readonly LimitChange[]): void;
  /** The ask with the limits that are known to apply by now. */
  apply(ask: AdmissionAsk): AdmissionAsk;
}

export function createChangedLimits(clock: Pick<Clock, 'monotonicMs'>): ChangedLimits {
  const organizations = new Map<string, OfOrganization>();

  function forgetOld(nowMs: number): void {
    for (const [organizationId, { notedMs }] of organizations)
      if (nowMs - notedMs > KEPT_MS) organizations.delete(organizationId);
  }

  return {
    note(organizationId, version, changes) {
      const nowMs = clock.monotonicMs();
      forgetOld(nowMs);
      const known = entryIn(organizations, organizationId, () => ({
        notedMs: nowMs,
        version,
        limits: new Map<string, Changed>(),
      }));
      known.notedMs = nowMs;
      known.version = Math.max(known.version, version);
      for (const { policyId, limit } of changes) {
        const before = known.limits.get(policyId);
        if (before !== undefined && before.version > version) continue;
        known.limits.set(policyId, { version, limit: limit ?? NO_LIMIT });
      }
    },
    apply(ask) {
      const known = organizations.get(ask.organizationId);
      if (known === undefined || known.version <= ask.configVersion) return ask;
      let { configVersion } = ask;
      const chargesOf = ({ charges }: CandidateAsk) =>
        charges.map((charge) => {
          const changed = known.limits.get(charge.policy.id);
          if (changed === undefined || changed.version <= ask.configVersion) return charge;
          configVersion = Math.max(configVersion, changed.version);
          return { ...charge, policy: { ...charge.policy, limit: changed.limit } };
        });
      const candidates = ask.candidates.map((candidate) => ({ ...candidate, charges: chargesOf(candidate) }));
      return configVersion === ask.configVersion ? ask : { ...ask, candidates, configVersion };
    },
  };
}
