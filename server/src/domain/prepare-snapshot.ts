import type { Steps } from '../kit/slices.ts';
import { prepareGuardrails } from './guardrails/effective-guardrails.ts';
import { prepareLimits } from './limits/limits.ts';
import { prepareRouting } from './routing/routing.ts';
import type { OrganizationSnapshot } from './snapshot.ts';

/** Builds what requests look up in a snapshot, before any request does: for 10,000 lanes that takes longer than one may wait. */
export function* prepareSnapshot(snapshot: OrganizationSnapshot): Steps<void> {
  yield* prepareRouting(snapshot);
  yield* prepareLimits(snapshot);
  yield* prepareGuardrails(snapshot.guardrails);
}
