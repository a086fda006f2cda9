import { type Answer, type Caller, itemsOf, textAt } from './answer.ts';
import { nobody, type World } from './world.ts';

const REQUESTS = 3;
const LISTED_MS_MAX = 20_000;
const CANARY = 'a prompt that nobody may repeat';

/** Sends requests and reads what the API shows of them: never their text. Returns the ID of one. */
export async function walkUsage(world: World, caller: Caller, laneSlug: string): Promise<string> {
  const { walk } = world;
  walk.secrets.know('a prompt', CANARY);
  await sendRequests(world, caller, laneSlug);
  const [first] = itemsOf(await untilListed(world, caller));
  const requestId = String(first?.['request_id']);
  const file = await walk.expect(caller, 'GET /api/relay/requests.csv', '200');
  if (!file.text.includes(requestId)) walk.fault('GET /api/relay/requests.csv: one is missing');
  const event = { body: { id: 'evt_1', type: 'invoice.paid', created: 1, data: { object: {} } } };
  await walk.expect(nobody, 'POST /api/billing/stripe-webhook', '403 mode_unsupported', event);
  return requestId;
}

async function sendRequests({ walk, deployment }: World, caller: Caller, model: string): Promise<void> {
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
    const answer = await walk.expect(caller, 'GET /api/relay/requests', '200');
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
