import type { AdmissionDesk } from '../../admission/desk.ts';
import type { Actual } from '../../admission/engine.ts';
import { hasPolicies } from '../../domain/limits/limits.ts';
import type { Exchange, RoutedRequest } from '../exchange.ts';
import { draftOf } from './ask.ts';

/**
 * Called when the provider has finished but the gateway has not: settles the charges to the actual usage and frees the unit
 * of concurrency. The lease stays, without charges, until the request is settled. If the engine is unavailable, the request
 * keeps its charges until then.
 */
export async function giveUpCharges(
  deps: { readonly desk: Pick<AdmissionDesk, 'admit'> },
  exchange: Exchange,
  routed: RoutedRequest,
  actual: Actual,
): Promise<void> {
  const { caller, requestId, snapshot } = exchange;
  if (!hasPolicies(snapshot, caller)) return;
  const ask = {
    organizationId: caller.organizationId,
    operationId: requestId,
    // With its own queue and candidate, the ask never waits.
    queue: requestId,
    waitersMax: 1,
    caller: requestId,
    priority: 'standard' as const,
    mixedClasses: false,
    configVersion: snapshot.version,
    candidates: [{ endpointId: requestId, paced: false, charges: [] }],
    selection: 'preferred' as const,
    waitMsMax: 0,
    release: actual,
    // No attempt is in flight, so the draft is for no candidate.
    draft: JSON.stringify(draftOf(exchange, routed, [], [], exchange.attempts)),
  };
  await deps.desk.admit(ask).catch(() => undefined);
}
