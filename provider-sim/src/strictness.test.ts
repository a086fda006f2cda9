import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { startProviderSim } from './provider-sim.ts';
import { operations, send } from './raw-client.fixture.ts';
import type { ProviderSim } from './simulator.ts';

interface Refused {
  name: string;
  path?: string;
  body?: Record<string, unknown> | string | Buffer;
  status: number;
  param?: string | null;
  code?: string;
}

const chat = operations.chat.body;
const user = chat.messages[0];
const chatRows: Refused[] = [
  {
    name: 'no model',
    body: { messages: [user] },
    status: 400,
    param: 'model',
    code: 'missing_required_parameter',
  },
  {
    name: 'model of a wrong type',
    body: { ...chat, model: 5 },
    status: 400,
    param: 'model',
    code: 'invalid_type',
  },
  {
    name: 'unknown model',
    body: { ...chat, model: 'gpt-0' },
    status: 404,
    param: 'model',
    code: 'model_not_found',
  },
  { name: 'model of another operation', body: { ...chat, model: 'sim-embed' }, status: 404, param: 'model' },
  { name: 'no messages', body: { model: 'sim-chat' }, status: 400, param: 'messages' },
  {
    name: 'empty messages',
    body: { ...chat, messages: [] },
    status: 400,
    param: 'messages',
    code: 'empty_array',
  },
  { name: 'messages as text', body: { ...chat, messages: 'hi' }, status: 400, param: 'messages' },
  {
    name: 'unknown role',
    body: { ...chat, messages: [{ role: 'x', content: '' }] },
    status: 400,
    param: 'messages[0].role',
  },
  {
    name: 'user without content',
    body: { ...chat, messages: [{ role: 'user' }] },
    status: 400,
    param: 'messages[0].content',
  },
  {
    name: 'content of a wrong type',
    body: { ...chat, messages: [{ role: 'user', content: 5 }] },
    status: 400,
    param: 'messages[0].content',
  },
  {
    name: 'unknown part',
    body: { ...chat, messages: [{ role: 'user', content: [{ type: 'x' }] }] },
    status: 400,
    param: 'messages[0].content[0].type',
  },
  {
    name: 'image without a URL',
    body: {
      ...chat,
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'file:///x' } }] }],
    },
    status: 400,
    param: 'messages[0].content[0].image_url.url',
  },
  {
    name: 'tool answer to nothing',
    body: { ...chat, messages: [{ role: 'tool', tool_call_id: 'a', content: 'x' }] },
    status: 400,
    param: 'messages[0].role',
  },
  {
    name: 'hot temperature',
    body: { ...chat, temperature: 3 },
    status: 400,
    param: 'temperature',
    code: 'decimal_above_max_value',
  },
  { name: 'no choices', body: { ...chat, n: 0 }, status: 400, param: 'n', code: 'integer_below_min_value' },
  { name: 'fractional cap', body: { ...chat, max_tokens: 1.5 }, status: 400, param: 'max_tokens' },
  {
    name: 'two caps',
    body: { ...chat, max_tokens: 1, max_completion_tokens: 1 },
    status: 400,
    param: 'max_tokens',
  },
  { name: 'stream as text', body: { ...chat, stream: 'yes' }, status: 400, param: 'stream' },
  {
    name: 'stream options without stream',
    body: { ...chat, stream_options: { include_usage: true } },
    status: 400,
    param: 'stream_options',
  },
  {
    name: 'stream options of a wrong type',
    body: { ...chat, stream: true, stream_options: { include_usage: 1 } },
    status: 400,
    param: 'stream_options.include_usage',
  },
  {
    name: 'bad tool name',
    body: { ...chat, tools: [{ type: 'function', function: { name: 'a b' } }] },
    status: 400,
    param: 'tools[0].function.name',
  },
  {
    name: 'tool choice without tools',
    body: { ...chat, tool_choice: 'auto' },
    status: 400,
    param: 'tool_choice',
  },
  {
    name: 'schema missing',
    body: { ...chat, response_format: { type: 'json_schema' } },
    status: 400,
    param: 'response_format.json_schema',
  },
  {
    name: 'unknown fault',
    body: { ...chat, sim: { explode: true } },
    status: 400,
    param: 'sim',
    code: 'sim_fault_invalid',
  },
  {
    name: 'fault of a wrong kind',
    body: { ...chat, sim: { delayMs: 'x' } },
    status: 400,
    param: 'sim',
    code: 'sim_fault_invalid',
  },
  { name: 'broken JSON', body: '{"model":', status: 400, code: 'invalid_json' },
  { name: 'a JSON array', body: '[]', status: 400, code: 'invalid_json' },
  { name: 'an empty body', body: '', status: 400, code: 'invalid_json' },
  {
    name: 'bytes that are not UTF-8',
    body: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    status: 400,
    code: 'invalid_json',
  },
];

const responsesBody = operations.responses.body;
const responsesRows: Refused[] = [
  {
    name: 'reasoning that another provider encrypted',
    body: {
      ...operations.responses.body,
      input: [
        { type: 'reasoning', summary: [], encrypted_content: 'relay:x' },
        { role: 'user', content: 'Hello.' },
      ],
    },
    status: 400,
    param: 'input[0].encrypted_content',
    code: 'invalid_encrypted_content',
  },
  { name: 'no input', body: { model: 'sim-chat' }, status: 400, param: 'input' },
  { name: 'input of a wrong type', body: { ...responsesBody, input: 5 }, status: 400, param: 'input' },
  {
    name: 'bad item',
    body: { ...responsesBody, input: [{ role: 'x', content: 'y' }] },
    status: 400,
    param: 'input[0].role',
  },
  {
    name: 'output of no call',
    body: { ...responsesBody, input: [{ type: 'function_call_output', output: 'x' }] },
    status: 400,
    param: 'input[0].call_id',
  },
  {
    name: 'a cap below the least',
    body: { ...responsesBody, max_output_tokens: 15 },
    status: 400,
    param: 'max_output_tokens',
  },
  {
    name: 'usage asked for the chat way',
    body: { ...responsesBody, stream: true, stream_options: { include_usage: true } },
    status: 400,
    param: 'stream_options.include_usage',
    code: 'unknown_parameter',
  },
].map((row) => ({ ...row, path: operations.responses.path }));

const embeddingsRows: Refused[] = [
  { name: 'no input', body: { model: 'sim-embed' }, status: 400, param: 'input' },
  { name: 'empty input', body: { model: 'sim-embed', input: '' }, status: 400, param: 'input' },
  { name: 'no inputs', body: { model: 'sim-embed', input: [] }, status: 400, param: 'input' },
  { name: 'mixed inputs', body: { model: 'sim-embed', input: ['a', 1] }, status: 400, param: 'input' },
  {
    name: 'too many inputs',
    body: { model: 'sim-embed', input: Array(2049).fill('a') },
    status: 400,
    param: 'input',
  },
  {
    name: 'unknown encoding',
    body: { model: 'sim-embed', input: 'a', encoding_format: 'x' },
    status: 400,
    param: 'encoding_format',
  },
  {
    name: 'no dimensions',
    body: { model: 'sim-embed', input: 'a', dimensions: 0 },
    status: 400,
    param: 'dimensions',
  },
].map((row) => ({ ...row, path: operations.embeddings.path }));

describe('a request the real API would refuse is refused in its shape', () => {
  let sim: ProviderSim;
  before(async () => {
    sim = await startProviderSim({ keys: ['test-key'] });
  });
  after(() => sim.close());
  beforeEach(() => sim.reset());

  for (const row of [...chatRows, ...responsesRows, ...embeddingsRows]) {
    const path = row.path ?? operations.chat.path;
    it(`${path}: ${row.name}`, async () => {
      const seen = await send(sim, path, row.body ?? null);
      const { error } = JSON.parse(seen.text);
      assert.equal(seen.status, row.status, seen.text);
      assert.deepEqual(Object.keys(error), ['message', 'type', 'param', 'code']);
      assert.equal(error.type, 'invalid_request_error');
      assert.equal(error.param, row.param ?? null);
      if (row.code !== undefined) assert.equal(error.code, row.code);
      assert.equal(sim.log[0]?.outcome, 'refused');
      assert.equal(sim.counts().promptTokens, 0);
    });
  }

  const headRows: [string, Record<string, string | string[]>, number, string][] = [
    ['a relay header', { 'X-Relay-Lane': 'a' }, 400, 'forbidden_header:x-relay-lane'],
    ['a cookie', { cookie: 'a=b' }, 400, 'forbidden_header:cookie'],
    [
      'two authorizations',
      { authorization: ['Bearer test-key', 'Bearer b'] },
      400,
      'duplicated_authorization',
    ],
    ['two credentials', { 'api-key': 'client-key' }, 400, 'several_credentials'],
  ];
  for (const [name, headers, status, violation] of headRows) {
    it(`headers: ${name} is a violation`, async () => {
      const seen = await send(sim, operations.chat.path, chat, { headers });
      assert.equal(seen.status, status);
      assert.deepEqual(sim.log[0]?.violations, [violation]);
      assert.equal(sim.counts().violations, 1);
    });
  }

  it('headers: both framings at once never reach a handler and are logged as a violation', async () => {
    const socket = connect(sim.port, '127.0.0.1');
    const head = 'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer test-key\r\n';
    socket.end(`${head}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`);
    const entry = await sim.waitFor((each) => each.outcome === 'refused');
    assert.equal(entry.violations.length, 1);
    assert.equal(entry.status, 400);
    socket.destroy();
  });

  const doors: [string, string, string, Record<string, string>, number][] = [
    ['unknown key', 'POST', '/v1/chat/completions', { authorization: 'Bearer nobody' }, 401],
    ['no key', 'POST', '/v1/chat/completions', { authorization: '' }, 401],
    ['basic credentials', 'POST', '/v1/chat/completions', { authorization: 'Basic dGVzdC1rZXk=' }, 401],
    ['no key for models', 'GET', '/v1/models', { authorization: '' }, 401],
    ['a wrong type', 'POST', '/v1/chat/completions', { 'content-type': 'text/plain' }, 400],
    ['a compressed request', 'POST', '/v1/chat/completions', { 'content-encoding': 'gzip' }, 400],
    ['a wrong method', 'GET', '/v1/chat/completions', {}, 405],
    ['a wrong path', 'POST', '/v1/chat/completion', {}, 404],
    ['a path twice prefixed', 'POST', '/v1/v1/chat/completions', {}, 404],
    ['an unknown model', 'GET', '/v1/models/nope', {}, 404],
  ];
  for (const [name, method, path, headers, status] of doors) {
    it(`door: ${name} gets ${status}`, async () => {
      const seen = await send(sim, path, method === 'GET' ? null : chat, { method, headers });
      assert.equal(seen.status, status);
      assert.equal(typeof JSON.parse(seen.text).error.message, 'string');
    });
  }

  it('a body over the limit gets 413 before it was read whole', async () => {
    const small = await startProviderSim({ requestBytesMax: 1000 });
    const seen = await send(small, operations.chat.path, { ...chat, filler: 'x'.repeat(5000) });
    assert.equal(seen.status, 413);
    await small.close();
  });

  it('unknown fields are taken and written down', async () => {
    const seen = await send(sim, operations.chat.path, { ...chat, vendor_field: { a: 1 } });
    assert.equal(seen.status, 200);
    assert.deepEqual(sim.log[0]?.unknownFields, ['vendor_field']);
  });

  it('a fault is not used up by a request that was refused', async () => {
    sim.script({ fault: { status: 503 } });
    assert.equal((await send(sim, operations.chat.path, '{')).status, 400);
    assert.equal((await send(sim, operations.chat.path, chat)).status, 503);
  });

  it('without authentication a request needs no key', async () => {
    const open = await startProviderSim({ anonymous: true });
    const seen = await send(open, operations.chat.path, chat, { headers: { authorization: '' } });
    assert.equal(seen.status, 200);
    await open.close();
  });
});
