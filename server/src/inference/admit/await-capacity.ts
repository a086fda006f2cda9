import { headers } from '@relay/contract';
import type { Admission } from '../../admission/port.ts';
import { RelayError } from '../../domain/relay-error.ts';
import type { Candidate, Route } from '../../domain/routing.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Exchange } from '../exchange.ts';

export interface AdmitDeps {
  readonly admission: Admission;
  readonly clock: Clock;
  readonly draining: () => boolean;
}

export type Capacity =
  | { readonly kind: 'ready'; readonly candidate: Candidate }
  | { readonly kind: 'refused'; readonly error: RelayError }
  | 'client_gone'
  | 'draining';

/** Asks for capacity and waits for it within what is left of the wait budget. Refusals are 429. */
export async function awaitCapacity(
  deps: AdmitDeps,
  exchange: Exchange,
  route: Route,
  candidates: readonly Candidate[],
): Promise<Capacity> {
  // The wait can only shrink the budget, and each turn waits at least a millisecond, so this ends.
  for (;;) {
    if (exchange.clientGone) return 'client_gone';
    const answer = await deps.admission.admit({
      operationId: exchange.requestId,
      organizationId: exchange.caller.organizationId,
      candidates,
      selection: route.selection,
      waitMsMax: Math.max(0, route.maxWaitMs - exchange.waitMs),
    });
    if (answer.kind === 'refused') return { kind: 'refused', error: refusal(route, answer.retryAfterMs) };
    if (answer.kind === 'admitted') return { kind: 'ready', candidate: answer.candidate };
    if (deps.draining()) return 'draining';
    const startMs = deps.clock.monotonicMs();
    await sleepUnlessGone(exchange, answer.waitMs);
    exchange.waitMs += deps.clock.monotonicMs() - startMs;
  }
}

export function remainingCandidates(
  candidates: readonly Candidate[],
  tried: ReadonlySet<string>,
): readonly Candidate[] {
  return tried.size === 0 ? candidates : candidates.filter(({ endpoint }) => !tried.has(endpoint.id));
}

function sleepUnlessGone(exchange: Exchange, waitMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, Math.max(1, Math.ceil(waitMs)));
    function done(): void {
      clearTimeout(timer);
      exchange.onClientGone = null;
      resolve();
    }
    exchange.onClientGone = done;
  });
}

function refusal(route: Route, retryAfterMs: number): RelayError {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1_000));
  return new RelayError('rate_limit_wait_budget_exceeded', {
    message: `No candidate has capacity within the wait budget of ${route.maxWaitMs} ms. Try again in ${seconds} s.`,
    fields: { retry_after: seconds },
    headers: {
      [headers.retryAfter]: String(seconds),
      [headers.retryAfterMs]: String(Math.max(1, Math.ceil(retryAfterMs))),
    },
  });
}
