import type { OpenBreaker } from '../../domain/routing/health-record.ts';
import { probeHeadersMsMax, probeIntervalMs } from '../../domain/routing/health-report.ts';
import { skipWords } from '../../domain/routing/health-view.ts';
import { type Offer, offerOf } from '../../domain/routing/offered-candidates.ts';
import type { Candidate } from '../../domain/routing/routing.ts';
import type { Clock } from '../../kit/clock.ts';
import type { HealthStore } from './health-store.ts';
import type { HealthSubject } from './health-subject.ts';
import type { HealthSubjects } from './health-subjects.ts';

/** How long a gateway waits before it asks again for a probe that another one has. */
const CLAIM_AGAIN_MS = 500;
/** In a lane without fallback, a request probes only after this long, because its client gets the failure. */
const PROBE_ANYWAY_MS = 30_000;

export interface OfferedCandidates {
  readonly candidates: readonly Candidate[];
  readonly skipped: readonly { readonly endpointId: string; readonly reason: string }[];
  /** The one of them that is down, if the request is a probe. */
  readonly probe: { readonly endpointId: string; readonly headersMsMax: number } | null;
}

export interface Offers {
  /**
   * The candidates without those that are down. Null when nothing is down, which costs nothing; a promise only for a request that
   * may be the next probe. The candidates are fit for the request and were not tried yet.
   */
  offer(
    organizationId: string,
    candidates: readonly Candidate[],
    mayFallBack: boolean,
  ): OfferedCandidates | null | Promise<OfferedCandidates>;
}

interface OfferDeps {
  readonly store: HealthStore;
  readonly clock: Clock;
  readonly subjects: HealthSubjects;
}

interface Breaker {
  readonly subject: HealthSubject;
  readonly open: OpenBreaker;
}

type BreakerOf = (candidate: Candidate) => Breaker | null;

export function createOffers(deps: OfferDeps): Offers {
  const { clock, subjects } = deps;
  return {
    offer(organizationId, candidates, mayFallBack) {
      if (subjects.open.size === 0 || candidates.length < 2) return null;
      const nowMs = clock.nowMs();
      const breakerOf: BreakerOf = (candidate) => subjects.breakerOf(organizationId, candidate, nowMs);
      const offer = offerOf(candidates, (candidate) => breakerOf(candidate) !== null);
      if (offer.skipped.length === 0) return null;
      for (const candidate of offer.skipped) {
        const breaker = breakerOf(candidate);
        if (breaker === null || !isProbeDue(breaker, mayFallBack, nowMs)) continue;
        return claim(deps, breaker).then((isProbe) =>
          offered(candidates, offer, isProbe ? candidate : null, breakerOf, nowMs),
        );
      }
      return offered(candidates, offer, null, breakerOf, nowMs);
    },
  };
}

function isProbeDue({ subject, open }: Breaker, mayFallBack: boolean, nowMs: number): boolean {
  if (nowMs < open.probeDueMs || nowMs < subject.claimMs) return false;
  return mayFallBack || nowMs - open.sinceMs >= PROBE_ANYWAY_MS;
}

/** Whether this request is the one of the whole deployment that probes. */
async function claim({ store, clock }: OfferDeps, { subject, open }: Breaker): Promise<boolean> {
  const intervalMs = probeIntervalMs(open.failedProbes);
  const nowMs = clock.nowMs();
  subject.claimMs = nowMs + CLAIM_AGAIN_MS;
  try {
    return await store.claimProbe(subject.organizationId, subject.name, intervalMs);
  } catch {
    // Without the store, every gateway probes by itself.
    subject.claimMs = nowMs + intervalMs;
    return true;
  }
}

function offered(
  candidates: readonly Candidate[],
  offer: Offer<Candidate>,
  probe: Candidate | null,
  breakerOf: BreakerOf,
  nowMs: number,
): OfferedCandidates {
  const skipped = offer.skipped.filter((each) => each !== probe);
  const headersMsMax = probe === null ? 0 : probeHeadersMsMax(breakerOf(probe)?.open.failedProbes ?? 0);
  return {
    candidates: probe === null ? offer.offered : candidates.filter((each) => !skipped.includes(each)),
    skipped: skipped.map((each) => {
      const open = breakerOf(each)?.open;
      const reason = open === undefined ? 'skipped: down' : skipWords(open, nowMs);
      return { endpointId: each.endpoint.id, reason };
    }),
    probe: probe === null ? null : { endpointId: probe.endpoint.id, headersMsMax },
  };
}
