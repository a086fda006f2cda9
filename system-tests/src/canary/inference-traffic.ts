import type { Fault, ScriptRule } from '@relay/provider-sim';
import type { Canaries } from './canaries.ts';
import { BODY_BYTES_MAX, LANES, type Site } from './site.ts';

/** One request to `/v1`, and what its answer may show of what was planted. */
export interface Exchange {
  readonly name: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  /** Hangs up after that long. */
  readonly hangUpAfterMs?: number;
}

type Body = Readonly<Record<string, unknown>>;

const CHAT = '/v1/chat/completions';
const RESPONSES = '/v1/responses';
const EMBEDDINGS = '/v1/embeddings';

/** A conversation in which every part holds a canary. */
function conversation(canaries: Canaries): Body {
  const call = {
    name: 'look_up',
    arguments: JSON.stringify({ q: canaries.plant('arguments of a tool call') }),
  };
  return {
    messages: [
      { role: 'system', content: canaries.plant('a system message') },
      { role: 'user', content: [{ type: 'text', text: canaries.plant('a prompt in parts') }] },
      { role: 'assistant', content: null, tool_calls: [{ id: 'call_1', type: 'function', function: call }] },
      { role: 'tool', tool_call_id: 'call_1', content: canaries.plant('the result of a tool') },
      { role: 'user', content: canaries.plant('a prompt') },
    ],
    tools: [
      {
        type: 'function',
        function: {
          name: 'look_up',
          description: canaries.plant('the description of a tool'),
          parameters: { type: 'object', properties: { q: { type: 'string' } } },
        },
      },
    ],
    user: canaries.plant('the user of a prompt'),
    metadata: { note: canaries.plant('metadata of a prompt') },
    max_tokens: 50,
  };
}

const chunk = (text: string) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: text }, finish_reason: null }] })}\n\n`;

/** What the provider says and does, with words of its own and with the prompt in its errors. */
function answersOf(site: Site): readonly (readonly [name: string, sim: Fault, body?: Body])[] {
  const { canaries } = site;
  const said = (label: string) => canaries.plant(label);
  const echo = (status: number) => ({
    error: {
      message: `Refused: ${said(`the prompt in an error ${status}`)}`,
      type: 'invalid_request_error',
      param: said(`a field of an error ${status}`),
      code: 'x',
    },
  });
  const whole = (text: string) => ({
    id: 'c',
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 },
  });
  const stream = { stream: true };
  return [
    ['an answer', { body: whole(said('an answer')) }],
    ['an answer of the simulator', {}],
    ['a streamed answer', { rawFrames: [chunk(said('a streamed answer')), 'data: [DONE]\n\n'] }, stream],
    ['an answer that echoes', { echo: true }],
    ...[400, 401, 403, 404, 422, 429, 500, 503].map(
      (status) => [`status ${status}`, { status, body: echo(status), retryAfter: '0' }] as const,
    ),
    ['an error frame first', { rawFrames: [`data: ${JSON.stringify(echo(1))}\n\n`] }, stream],
    [
      'an error frame later',
      { rawFrames: [chunk(said('text before an error')), `data: ${JSON.stringify(echo(2))}\n\n`] },
      stream,
    ],
    [
      'a stream that breaks off',
      { rawFrames: [chunk(said('text before a cut'))], cutAfterFrames: 1 },
      stream,
    ],
    ['no JSON', { body: `<html>${said('a page')}</html>`, contentType: 'text/html' }],
    ['half a JSON', { body: `{"choices":[{"message":{"content":"${said('half an answer')}` }],
    ['nothing', { emptyBody: true }],
    ['a redirect', { redirectTo: `http://127.0.0.1:1/${said('a redirect')}` }],
    [
      'headers',
      { headers: { 'x-said': said('a header of the provider'), 'set-cookie': said('its cookie') } },
    ],
    [
      'no HTTP',
      { rawSocketBase64: Buffer.from(`HTTP/9 ${said('bytes that are not HTTP')}\r\n`).toString('base64') },
    ],
    ['a bad head', { rawSocketBase64: badHead(said('a header without an end')) }],
    ['a cut', { cutAfterBytes: 40 }],
    ['silence', { stallBeforeHeaders: true }],
  ];
}

function badHead(text: string): string {
  return Buffer.from(`HTTP/1.1 200 OK\r\n${text}\r\nx: \x01${text}\r\n\r\n`).toString('base64');
}

function send(site: Site, name: string, path: string, body: Body | string | Buffer): Exchange {
  const isBytes = typeof body === 'string' || Buffer.isBuffer(body);
  const headers = {
    authorization: `Bearer ${site.apiToken}`,
    cookie: `x=${site.canaries.plant('a cookie')}`,
  };
  return { name, path, headers, body: isBytes ? body : JSON.stringify(body) };
}

/** Everything that a client may send and a provider may answer, with a string of its own in every part of it. */
export function inferenceTraffic(site: Site, lanes: readonly string[] = Object.values(LANES)): Exchange[] {
  const { canaries } = site;
  return lanes.flatMap((model) => [
    ...answersOf(site).map(([name, sim, more]) =>
      send(site, `${model}: ${name}`, CHAT, { model, ...conversation(canaries), ...more, sim }),
    ),
    ...[false, true].map((stream) =>
      send(site, `${model}: responses`, RESPONSES, {
        model,
        stream,
        instructions: canaries.plant('instructions'),
        input: canaries.plant('the input of a response'),
      }),
    ),
    send(site, `${model}: embeddings`, EMBEDDINGS, { model, input: [canaries.plant('text to embed')] }),
    {
      ...send(site, `${model}: hung up`, CHAT, {
        model,
        ...conversation(canaries),
        stream: true,
        sim: { frames: 50, frameDelayMs: 20 },
      }),
      hangUpAfterMs: 150,
    },
  ]);
}

/** Providers that tell in their errors what they were sent as a key, and a request for each of them. */
export function keyEchoes(site: Site): { rules: ScriptRule[]; exchange: Exchange }[] {
  return [400, 401, 403, 429, 500].map((status) => ({
    rules: site.credentials.map((key) => ({
      match: { key },
      fault: { status, body: { error: { message: `Incorrect API key provided: ${key}`, type: 'x' } } },
    })),
    exchange: send(site, `${status} with the key`, CHAT, {
      model: LANES.limited,
      ...conversation(site.canaries),
    }),
  }));
}

/** What is refused before anybody is asked. */
export function refusedTraffic(site: Site): Exchange[] {
  const { canaries } = site;
  const text = canaries.plant('a prompt that is refused');
  const message = { role: 'user', content: text };
  const chat = (name: string, body: Body | string | Buffer) => send(site, name, CHAT, body);
  const plain = { model: LANES.unlimited, messages: [message] };
  const withHeaders = (name: string, headers: Record<string, string>, path = CHAT): Exchange => ({
    name,
    path,
    headers,
    body: JSON.stringify(plain),
  });
  return [
    chat('no JSON', `{"model":"${LANES.unlimited}","messages":[{"role":"user","content":"${text}`),
    chat('not an object', JSON.stringify([text])),
    chat('no model', { messages: [message] }),
    chat('another model', { ...plain, model: 'nobody-has-this' }),
    chat('a model that is no text', { ...plain, model: { name: text } }),
    chat('a field twice', `{"model":"a","model":"${text}","messages":[]}`),
    chat('too large', { ...plain, padding: `${text}${'x'.repeat(BODY_BYTES_MAX)}` }),
    chat('not UTF-8', Buffer.concat([Buffer.from(`{"model":"${text}`), Buffer.from([0xff, 0xfe])])),
    { ...chat('another type', plain), headers: { 'content-type': `text/${text}` } },
    withHeaders('a wrong key', { authorization: `Bearer ${canaries.plant('a wrong key')}` }),
    withHeaders('a wrong user key', {
      authorization: `Bearer rly_0123456789_${canaries.plant('a wrong user key')}`,
    }),
    withHeaders('basic', { authorization: `Basic ${canaries.plant('a basic credential')}` }),
    withHeaders('another header', { 'x-api-key': canaries.plant('a key in another header') }),
    withHeaders('a session', { cookie: `relay_session=${canaries.plant('a wrong session')}` }),
    withHeaders('the address', {}, `${CHAT}?api_key=${canaries.plant('a key in the address')}`),
    withHeaders('the context', { 'x-relay-context': canaries.plant('a forged context') }),
  ];
}
