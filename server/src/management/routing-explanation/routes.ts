import { routingTableOf } from '../../domain/routing/routing.ts';
import type { Handlers } from '../../http/call.ts';
import { AskedRequest } from '../../protocols/asked-request.ts';
import { protocols } from '../../protocols/index.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { invalidField } from '../resources/refusals.ts';
import { explainRequest } from './explain-request.ts';
import type { PlacementDeps } from './placements.ts';

type ExplainDeps = PlacementDeps & Pick<ManagementDeps, 'snapshots' | 'typicalTokens'>;

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
      const lane = routingTableOf(snapshot).resolve(model)?.lane;
      const typical = deps.typicalTokens(organizationId, lane?.id ?? model);
      return explainRequest(deps, snapshot, call.caller, {
        asked: new AskedRequest(protocols[operation], measured, () => body),
        model,
        streaming: request.isStreaming(body),
        estimate: request.estimate(measured, typical),
        outputCap: request.output(measured).cap,
        typicalOutputTokens: typical.outputTokens,
      });
    },
  };
}
