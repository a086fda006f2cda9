import { estimateTokens, type MeasuredBody, outputCap } from '../../domain/money/estimate.ts';
import { routingTableOf } from '../../domain/routing/routing.ts';
import { unfitness } from '../../domain/routing/unfit.ts';
import type { Handlers } from '../../http/call.ts';
import { scanObject } from '../../kit/json-members.ts';
import type { ManagementDeps } from '../deps.ts';
import { invalidField } from '../refusals.ts';
import { explainRoute } from './explain-route.ts';
import { readLimitStates } from './limit-states.ts';

/** As deep as the inference routes accept; what lies deeper would be refused there. */
const DEPTH_MAX = 256;

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
      const measured = measure(body);
      const snapshot = deps.snapshots.get(organizationId) ?? (await deps.snapshots.load(organizationId));
      const route = routingTableOf(snapshot).resolve(model);
      const typical = deps.typicalOutputTokens(route?.lane?.id ?? model);
      const streaming = operation !== 'embeddings' && body['stream'] === true;
      const estimate = estimateTokens(operation, measured, typical);
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
              isOpenEnded: outputCap(body) === null,
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

/** The estimate is made from the text, as for a real request; JSON that was parsed can be written again. */
function measure(body: Readonly<Record<string, unknown>>): MeasuredBody {
  const spans = scanObject(Buffer.from(writeJson(body)).toString('latin1'), DEPTH_MAX);
  if (typeof spans === 'string') throw invalidField('body', `body nests deeper than ${DEPTH_MAX} levels.`);
  return { members: spans.members, settings: body };
}

/** Empty for a body so deep that writing it runs out of stack; the scan then refuses it like any other. */
function writeJson(body: Readonly<Record<string, unknown>>): string {
  try {
    return JSON.stringify(body);
  } catch (error) {
    if (error instanceof RangeError) return '';
    throw error;
  }
}
