import type { AdmissionDesk } from '../../admission/desk.ts';
import type { Actual } from '../../admission/engine.ts';
import { hasPolicies } from '../../domain/limits/limits.ts';
import type { Candidate } from '../../domain/routing/routing.ts';
import type { Exchange, RoutedRequest } from '../exchange.ts';
import { draftOf } from './ask.ts';

/**
 * The provider is done with the request, and the gateway is not: the limits get what it really used and its unit of concurrency
 * back, in the step that also ends a failed attempt. Its lease stays, without charges, until it is settled. Where the limits
 * cannot be reached it keeps what it holds until then.
 */
export async function giveUpCharges(
  deps: { readonly desk: Pick<AdmissionDesk, 'admit'> },
  exchange: Exchange,
  routed: RoutedRequest,
  candidate: Candidate,
  actual: Actual,
): Promise<void> {
  const { caller, requestId, snapshot } = exchange;
  if (!hasPolicies(snapshot, caller)) return;
  const ask = {
    organizationId: caller.organizationId,
    operationId: requestId,
    // A queue and a candidate of its own: nobody comes before it, and nothing keeps it waiting.
    queue: requestId,
    waitersMax: 1,
    candidates: [{ endpointId: requestId, paced: false, charges: [] }],
    selection: 'preferred' as const,
    waitMsMax: 0,
    release: actual,
    draft: JSON.stringify(draftOf(exchange, routed, [candidate])),
  };
  await deps.desk.admit(ask).catch(() => undefined);
}
