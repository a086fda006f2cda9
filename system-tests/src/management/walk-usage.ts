import { type Answer, type Caller, itemsOf, textAt } from './answer.ts';
import { requestLimits } from './fields/limit.ts';
import * as fields from './fields/usage.ts';
import type { Made } from './repeats.ts';
import { anyText, nothing } from './shape.ts';
import { nobody, type World } from './world.ts';

const REQUESTS = 3;
const LISTED_MS_MAX = 20_000;
const CANARY = 'a prompt that nobody may repeat';

/** What the API shows of requests once some were sent: never their text. */
export async function walkUsage(world: World, caller: Caller, made: Made): Promise<void> {
  const { walk } = world;
  walk.secrets.know('a prompt', CANARY);
  await sendRequests(world, caller, made);
  const listed = await untilListed(world, caller);
  const [first] = itemsOf(listed);
  const one = `GET /api/relay/requests/${String(first?.['request_id'])}`;
  await walk.expect(caller, one, '200', fields.requestDetail);
  await walk.expect(caller, `${one}/limits`, '200', requestLimits);
  const file = await walk.expect(caller, 'GET /api/relay/requests.csv', '200', anyText);
  if (!file.text.includes(String(first?.['request_id'])))
    walk.fault('GET /api/relay/requests.csv: one is missing');
  await walk.expect(caller, 'GET /api/relay/requests/stream', '200', anyText);

  await walk.expect(caller, 'GET /api/relay/live', '200', fields.live);
  await walk.expect(caller, 'GET /api/relay/stats/spend', '200', fields.spend);
  await walk.expect(caller, 'GET /api/relay/stats/summary', '200', fields.statsSummary);
  const series = 'GET /api/relay/stats/timeseries?metric=requests';
  await walk.expect(caller, series, '200', fields.timeseries);
  await walk.expect(caller, 'GET /api/relay/stats/endpoints', '200', fields.endpointStats);
  await walk.expect(caller, 'GET /api/relay/stats/lanes', '200', fields.laneStats);
  await walk.expect(caller, 'GET /api/relay/stats/api-keys', '200', fields.apiKeyStats);
  await walk.expect(caller, 'GET /api/relay/stats/failures', '200', fields.failures);
  await walk.expect(caller, 'GET /api/relay/stats/showback?group_by=model', '200', fields.showback);
  await walk.expect(caller, 'GET /api/relay/stats/showback.csv?format=focus', '200', anyText);
  const waits = `GET /api/relay/stats/wait-distribution?lane_id=${made.lane}`;
  await walk.expect(caller, waits, '200', fields.waitDistribution);
  const metered = 'GET /api/relay/stats/metered?from=2026-01-01T00:00:00.000Z&to=2026-01-02T00:00:00.000Z';
  await walk.expect(caller, metered, '200', fields.meteredUsage);
  await walk.expect(caller, 'GET /api/billing/usage-statements', '200', fields.usageStatement);
  const event = { body: { id: 'evt_1', type: 'invoice.paid', created: 1, data: { object: {} } } };
  await walk.expect(nobody, 'POST /api/billing/stripe-webhook', '403 mode_unsupported', nothing, event);
}

async function sendRequests({ walk, deployment }: World, caller: Caller, made: Made): Promise<void> {
  const lanes = itemsOf(await walk.send(caller, 'GET /api/relay/routing-lanes'));
  const model = lanes.find(({ id }) => id === made.lane)?.['slug'];
  const token = { authorization: `Bearer ${deployment.apiToken}` };
  for (let sent = 0; sent < REQUESTS; sent += 1) {
    const { status } = await fetch(`${walk.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(walk.mode.hosted ? caller.headers : token) },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: CANARY }] }),
    });
    if (status !== 200) walk.fault(`a request through the lane is ${status}`);
  }
}

/** The ledger is written a moment after the answer. */
async function untilListed({ walk }: World, caller: Caller): Promise<Answer> {
  const deadlineMs = performance.now() + LISTED_MS_MAX;
  for (;;) {
    const answer = await walk.expect(caller, 'GET /api/relay/requests', '200', fields.requestPage);
    if (itemsOf(answer).length >= REQUESTS) return answer;
    if (performance.now() > deadlineMs) {
      walk.fault(
        `GET /api/relay/requests: they are not listed: ${answer.text} ${textAt(answer, 'next_cursor')}`,
      );
      return answer;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
