import { prepareSnapshot } from '../../domain/prepare-snapshot.ts';
import { routingTableOf } from '../../domain/routing/routing.ts';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import type { Call, Handlers } from '../../http/call.ts';
import { createShares } from '../../kit/shares.ts';
import { inSlices } from '../../kit/slices.ts';
import { AskedRequest } from '../../protocols/asked-request.ts';
import { protocols } from '../../protocols/index.ts';
import { SLICE_MS } from '../../store/configuration/load-snapshot.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { invalidField, queueFull } from '../resources/refusals.ts';
import { createReadEditedLane, withLane } from './edited-lane.ts';
import { explainRequest } from './explain-request.ts';

/** An unsaved lane is written, rolled back, and the whole snapshot prepared with it. One organization gets at most half of the places. */
const PLACES_MAX = 8;
const TOO_MANY = 'Too many explanations of unsaved lanes are running. Try again in a moment.';

export function routingExplanationHandlers(deps: ManagementDeps): Handlers {
  const readEditedLane = createReadEditedLane(deps);
  const places = createShares(PLACES_MAX);

  async function snapshotOf(call: Call<'explainRouting'>): Promise<OrganizationSnapshot> {
    const { organizationId } = call.caller;
    const snapshot = deps.snapshots.get(organizationId) ?? (await deps.snapshots.load(organizationId));
    const { edited_lane: edited } = call.body;
    if (edited === undefined) return snapshot;
    const leave = places.tryTake(organizationId);
    if (leave === null) throw queueFull(TOO_MANY, 1);
    try {
      const changed = withLane(snapshot, await readEditedLane(call, edited));
      await inSlices(prepareSnapshot(changed), deps.clock, SLICE_MS);
      return changed;
    } finally {
      leave();
    }
  }

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
      if (measured === null) throw invalidField('body', 'body is nested too deeply.');
      const snapshot = await snapshotOf(call);
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
