import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type PersonalityName, personalityNames, type SimModel } from '@relay/provider-sim';
import { type AdminClient, createLane } from '../harness/admin-client.ts';
import type { Deployment } from '../harness/deployment.ts';
import { paths, requestOf, shapesOf, type Wire } from './directions.ts';
import { offValues, type TypedValue } from './judge-types.ts';
import { toolLoops } from './tool-loops.ts';

// Providers of chat completions as they really are, behind clients of every protocol: what they want back returns, their errors have the
// client's shape, and their ends are ends.

const STEPS = 4;
const CLIENTS: readonly Wire[] = ['chat', 'messages', 'responses'];
/** What passes through is the client's to read: the AI SDK rejects TGI's numbers for ids, and returns no reasoning to OpenRouter. */
const UNREAD_IN_CHAT: readonly PersonalityName[] = ['tgi', 'openrouter'];
/** Those that reject a step without what they signed. */
const DEMANDING: readonly PersonalityName[] = ['gemini', 'openrouter', 'deepseek'];
const TOO_LONG: Readonly<Record<PersonalityName, string>> = {
  azure: "This model's maximum context length is 8192 tokens.",
  deepseek: "This model's maximum context length is 65536 tokens.",
  gemini: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
  groq: 'Please reduce the length of the messages or completion.',
  llamacpp: 'the request exceeds the available context size, try increasing it',
  mistral: 'Prompt contains 40000 tokens, too large for model with 32768 maximum context length',
  openrouter: "This endpoint's maximum context length is 131072 tokens.",
  tgi: 'Input validation error: `inputs` must have less than 4095 tokens. Given: 5000',
  vllm: "This model's maximum context length is 4096 tokens.",
};

/** Each of a vendor of its own: what one has made is not for another. */
export const personalityModels: SimModel[] = personalityNames.map((personality) => ({
  id: modelOf(personality),
  personality,
}));

function modelOf(name: PersonalityName): string {
  return `vendor-${name}/model`;
}

function laneOf(name: PersonalityName): string {
  return `like-${name}`;
}

export async function createPersonalityLanes(admin: AdminClient, baseUrl: string): Promise<void> {
  for (const name of personalityNames)
    await createLane(admin, {
      name: laneOf(name),
      endpoints: [{ baseUrl, upstreamModel: modelOf(name), endpoint: { route_kind: 'chat' } }],
    });
}

export function describePersonalities(place: () => Deployment): void {
  describe('providers as they are', () => {
    // The compatible provider of the AI SDK returns Gemini's signatures, and no other members.
    for (const name of personalityNames)
      for (const { name: client, client: wire, run } of toolLoops)
        if (wire !== 'chat' || !UNREAD_IN_CHAT.includes(name))
          for (const stream of [false, true])
            it(`${client}, ${stream ? 'streamed' : 'whole'}, ends its loop of tools at ${name}`, async () => {
              const { url, apiToken } = place();
              const model = laneOf(name);
              const asked = { baseUrl: `${url}/v1`, apiToken, model, stream };
              const text = await run({ ...asked, prompt: `Look. steps=${STEPS}` });
              assert.equal(text, `Done after ${STEPS} steps.`);
            });

    it('errors arrive in the shape of the client, which knows a prompt that does not fit', async () => {
      const typed: TypedValue[] = [];
      for (const name of personalityNames)
        for (const client of CLIENTS.filter((each) => each !== 'chat')) {
          const value = await errorOf(place(), client, name, `fails=400 ${TOO_LONG[name]}`);
          typed.push({ from: `${client} at ${name}`, shape: shapesOf[client].error, value });
          const { error } = value as { error: { code?: string; message: string; type: string } };
          assert.equal(error.type, 'invalid_request_error', name);
          if (client === 'messages') assert.match(error.message, /prompt is too long/i, name);
          else assert.equal(error.code, 'context_length_exceeded', name);
        }
      assert.deepEqual(offValues(typed), []);
    });

    it('what one of them signed is left out for another, and named', async () => {
      for (const name of DEMANDING) {
        const { messages, leftOut, sent } = await askedElsewhere(place(), name);
        assert.ok(messages.includes('relay-seal-2:'), name);
        assert.match(leftOut ?? '', /messages\.content/);
        assert.doesNotMatch(sent, /relay-|extra_content|reasoning_details|reasoning_content/);
      }
    });
  });
}

async function post({ url, apiToken }: Deployment, client: Wire, body: object): Promise<Response> {
  return fetch(url + paths[client], {
    method: 'POST',
    headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function errorOf(
  deployment: Deployment,
  client: Wire,
  name: PersonalityName,
  prompt: string,
): Promise<unknown> {
  const direction = { client, provider: 'chat', lane: laneOf(name) } as const;
  const response = await post(deployment, client, requestOf(direction, prompt, false, false));
  assert.equal(response.status, 400);
  return await response.json();
}

/** A step made at one provider, returned to another. */
async function askedElsewhere(deployment: Deployment, name: PersonalityName) {
  const direction = { client: 'messages', provider: 'chat', lane: laneOf(name) } as const;
  const first = requestOf(direction, 'Look. steps=1', false, false) as { messages: object[] };
  const said = (await (await post(deployment, 'messages', first)).json()) as {
    content: { type: string; id: string }[];
  };
  const results = said.content
    .filter(({ type }) => type === 'tool_use')
    .map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'seen' }));
  const messages = [
    ...first.messages,
    { role: 'assistant', content: said.content },
    { role: 'user', content: results },
  ];
  const response = await post(deployment, 'messages', { ...first, model: laneOf('vllm'), messages });
  assert.equal(response.status, 200);
  const sent = deployment.provider.log.at(-1)?.body?.toString() ?? '';
  return { messages: JSON.stringify(messages), leftOut: response.headers.get('x-relay-left-out'), sent };
}
