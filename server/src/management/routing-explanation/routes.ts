import { estimateTokens } from '../../domain/estimate.ts';
import { routingTableOf } from '../../domain/routing.ts';
import type { Handlers } from '../../http/call.ts';
import type { ManagementDeps } from '../deps.ts';
import { invalidField } from '../refusals.ts';
import { explainRoute } from './explain-route.ts';

/** As deep as the inference routes accept; what lies deeper would be refused there. */
const DEPTH_MAX = 256;

type ExplainDeps = Pick<ManagementDeps, 'snapshots' | 'admission' | 'clock' | 'typicalOutputTokens'>;

export function routingExplanationHandlers(deps: ExplainDeps): Handlers {
  return {
    async explainRouting(call) {
      const { operation, body } = call.body;
      const { organizationId } = call.caller;
      const model = body['model'];
      if (typeof model !== 'string' || model === '') {
        throw invalidField('body.model', 'body.model must be a non-empty string: a lane or a model.');
      }
      if (nestsDeeperThan(body, DEPTH_MAX)) {
        throw invalidField('body', `body nests deeper than ${DEPTH_MAX} levels.`);
      }
      const snapshot = deps.snapshots.get(organizationId) ?? (await deps.snapshots.load(organizationId));
      const route = routingTableOf(snapshot).resolve(model);
      const typical = deps.typicalOutputTokens(route?.lane?.id ?? model);
      const nowMs = deps.clock.nowMs();
      return explainRoute({
        operation,
        model,
        streaming: operation !== 'embeddings' && body['stream'] === true,
        estimate: estimateTokens(operation, body, typical),
        route,
        waitMsOf: (endpointId) => Math.max(0, (deps.admission.cooldownUntilMs(endpointId) ?? nowMs) - nowMs),
        pricingOf: (endpointId) => snapshot.pricing.get(endpointId),
      });
    },
  };
}

/** Without recursion, because the depth is what is in question; and level by level, so it stops at the bound. */
function nestsDeeperThan(value: unknown, depthMax: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > depthMax) return true;
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item !== 'object' || item === null) continue;
      for (const member of Object.values(item)) {
        if (typeof member === 'object' && member !== null) next.push(member);
      }
    }
    level = next;
  }
  return false;
}
