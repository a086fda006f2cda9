import { headers as names } from '@relay/contract';
import { NON_STREAMING_ONLY, specHeaders } from '@relay/contract/specification';
import { until } from '../../harness/until.ts';
import type { Answer } from '../answer.ts';
import {
  CHAT,
  CREDENTIAL,
  header,
  infer,
  MODEL,
  operations,
  PRICES,
  RESPONSES,
  type Scene,
  WORDS,
} from './scene.ts';

const MILLION = 1_000_000;
const RECORDED_MS_MAX = 20_000;

/** What a client may claim about itself. */
const CLAIMS = {
  'x-relay-context': 'e30.e30.e30',
  'x-relay-organization-id': 'mine',
  'x-relay-user-id': 'me',
  'x-request-id': '00000000-0000-7000-8000-000000000000',
};

/** One of each operation, whole and streamed: what the provider gets, and what the client and the record show. */
export async function checkOperations(scene: Scene): Promise<void> {
  for (const path of operations) {
    const answer = await checkOperation(scene, path, false);
    checkCost(scene, answer);
    if (path === CHAT) await checkRecord(scene, answer);
  }
  for (const path of [CHAT, RESPONSES]) await checkOperation(scene, path, true);
}

async function checkOperation(scene: Scene, path: string, streaming: boolean): Promise<Answer> {
  const { walk, deployment, client } = scene.world;
  const before = deployment.provider.log.length;
  const token = Object.values(client.headers).join().replace('Bearer ', '');
  const body = { x_additional: 'kept', ...(streaming ? { stream: true } : {}) };
  const answer = await infer(scene, 'plain', { path, body, headers: CLAIMS });
  const fault = (text: string) => walk.fault(`POST ${path}${streaming ? ' as a stream' : ''}: ${text}`);
  if (answer.status !== 200 || answer.headers.has(names.errorSource)) fault(answer.text);
  const { headers } = answer;
  for (const [name, { type, meaning }] of Object.entries(specHeaders)) {
    const value = headers.get(name);
    const isAbsent = streaming && meaning === NON_STREAMING_ONLY;
    const fits = isAbsent ? value === null : (type === 'integer' ? /^\d+$/ : /\S/).test(value ?? '');
    if (!fits) fault(`${name} is ${value}`);
  }
  const lane = scene.lanes['plain'];
  const chosen = [lane?.endpointIds[0], lane?.providerIds[0], MODEL, 'plain 1', '0'].join();
  const told = [
    'selectedEndpointId',
    'selectedProviderId',
    'selectedUpstreamModel',
    'selectedEndpoint',
    'fallbackCount',
  ];
  const came = told.map((name) => header(answer, names[name as keyof typeof names])).join();
  if (came !== chosen) fault(`it tells of ${came}, not of ${chosen}`);
  if (header(answer, names.requestId) === CLAIMS['x-request-id']) fault('the ID is the client’s own');
  const text = [...headers].join('\n');
  for (const secret of [WORDS, CREDENTIAL, token])
    if (text.includes(secret)) fault('a header shows a secret');

  const [seen, ...others] = deployment.provider.log.slice(before);
  if (others.length > 0 || seen?.path !== path) fault(`the provider was asked for ${seen?.path}`);
  if (seen?.model !== MODEL || seen.key !== CREDENTIAL)
    fault(`the provider was sent ${seen?.model}, ${seen?.key}`);
  const sentNames = (seen?.rawHeaders ?? []).filter((_, index) => index % 2 === 0);
  const leaked = sentNames.filter((name) => /^(x-relay-|cookie$)/i.test(name));
  if (leaked.length > 0 || String(seen?.rawHeaders).includes(token))
    fault(`the provider was sent the client’s ${leaked.join()}`);
  const sent = JSON.parse(seen?.body?.toString() ?? '{}') as Record<string, unknown>;
  if (sent['x_additional'] !== 'kept') fault('a field did not reach the provider');
  if (streaming) checkStream(path, answer, sent, fault);
  else checkWhole(path, answer, fault);
  return answer;
}

function checkWhole(path: string, { body, headers }: Answer, fault: (text: string) => void): void {
  const field = path === CHAT ? 'choices' : path === RESPONSES ? 'output' : 'data';
  const found = (body as Record<string, unknown> | undefined)?.[field];
  const type = headers.get('content-type') ?? '';
  if (!Array.isArray(found) || found.length === 0 || !type.startsWith('application/json'))
    fault(`no ${field} in ${type}`);
}

/** Frames of the provider up to its own end, without the usage that the client did not ask for. */
function checkStream(
  path: string,
  { text, headers }: Answer,
  sent: Record<string, unknown>,
  fault: (text: string) => void,
): void {
  if (!headers.get('content-type')?.startsWith('text/event-stream')) fault('it is no event stream');
  const frames = text.split('\n').filter((line) => line.startsWith('data: {'));
  const marker = path === RESPONSES ? 'response.' : 'chat.completion.chunk';
  if (frames.length <= 2 || !frames.every((frame) => frame.includes(marker))) fault(text.slice(0, 300));
  if (!text.includes(path === RESPONSES ? 'response.completed' : 'data: [DONE]')) fault('it has no end');
  if (path !== CHAT) return;
  if (JSON.stringify(sent['stream_options']) !== '{"include_usage":true}') fault('usage is not asked for');
  if (text.includes('"prompt_tokens"')) fault('the client gets usage that it did not ask for');
}

/** By the configured prices. */
function checkCost({ world: { walk } }: Scene, answer: Answer): void {
  const tokens = (name: string) => Number(header(answer, name));
  const exact =
    (tokens(names.actualInputTokens) * PRICES.input_cost_micros_per_1m_tokens +
      tokens(names.actualOutputTokens) * PRICES.output_cost_micros_per_1m_tokens) /
    MILLION;
  const cost = header(answer, names.actualCostMicros);
  if (cost !== String(Math.round(exact))) walk.fault(`${answer.line}: the cost is ${cost}, not ${exact}`);
}

/** The record of a request has nothing that was said. */
async function checkRecord({ world: { walk }, owner }: Scene, answer: Answer): Promise<void> {
  const { choices } = answer.body as { choices: { message: { content: string } }[] };
  const record = await recordOf({ walk, owner }, answer);
  for (const said of [WORDS, CREDENTIAL, choices[0]?.message.content ?? WORDS])
    if (record.text.includes(said)) walk.fault(`the record shows "${said}"`);
}

/** The request's own record, once it is written. */
export async function recordOf(
  { walk, owner }: Pick<Scene, 'owner'> & Pick<Scene['world'], 'walk'>,
  answer: Answer,
): Promise<Answer> {
  let record: Answer | undefined;
  await until(async () => {
    record = await walk.send(owner, `GET /api/relay/requests/${answer.requestId}`);
    return record.status === 200;
  }, RECORDED_MS_MAX);
  if (record?.status !== 200) throw new Error(`the request ${answer.requestId} is not recorded`);
  return record;
}
