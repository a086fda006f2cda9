import { routingTableOf } from '../../domain/routing/routing.ts';
import { unfitness } from '../../domain/routing/unfit.ts';
import type { Handlers } from '../../http/call.ts';
import { protocols } from '../../protocols/index.ts';
import type { ManagementDeps } from '../deps.ts';
import { invalidField } from '../refusals.ts';
import { explainRoute } from './explain-route.ts';
import { readLimitStates } from './limit-states.ts';

type ExplainDeps = Pick<
  ManagementDeps,
  'snapshots' | 'admission' | 'clock' | 'typicalOutputTokens' | 'limitUsage'
>;

export function routingExplanationHandlers(deps: ExplainDeps): Handlers {
  return {
    async explainRouting(call) {
      const { operation, body } = call.body;
      const { organizationId } = call.caller;
      const model = body['model'];
      if (typeof model !== 'string' || model === '') {
        throw invalidField('body.model', 'body.model must be a non-empty string: a lane or a model.');
      }
      const { request } = protocols[operation];
      const measured = request.measure(body);
      if (measured === null) throw invalidField('body', 'body nests deeper than a request may.');
      const snapshot = deps.snapshots.get(organizationId) ?? (await deps.snapshots.load(organizationId));
      const route = routingTableOf(snapshot).resolve(model);
      const typical = deps.typicalOutputTokens(route?.lane?.id ?? model);
      const streaming = request.isStreaming(body);
      const estimate = request.estimate(measured, typical);
      const fit = route?.members.filter((member) => unfitness(member, operation, streaming) === null) ?? [];
      const limits =
        route === undefined
          ? new Map<string, never>()
          : await readLimitStates(deps, {
              snapshot,
              caller: call.caller,
              route,
              candidates: fit.map(({ candidate }) => candidate),
              estimate,
              isOpenEnded: request.outputCap(body) === null,
            });
      const nowMs = deps.clock.nowMs();
      return explainRoute({
        operation,
        model,
        streaming,
        estimate,
        route,
        namesDisabledLane: [...snapshot.lanes.values()].some(
          ({ enabled, name, slug }) => !enabled && (name === model || slug === model),
        ),
        limitOf: (endpointId) => limits.get(endpointId),
        waitMsOf: (endpointId) => Math.max(0, (deps.admission.cooldownUntilMs(endpointId) ?? nowMs) - nowMs),
        pricingOf: (endpointId) => snapshot.pricing.get(endpointId),
        guardrails: snapshot.guardrails,
      });
    },
  };
}
