import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { guardrail } from '../domain/guardrails/guardrail.fixture.ts';
import type { Guardrail } from '../domain/guardrails/guardrail.ts';
import type { TemplateValues } from '../domain/guardrails/template.ts';
import { systemClock as clock } from '../kit/clock.ts';
import { createEgress, type Egress } from '../kit/egress/index.ts';
import { Secret } from '../kit/secret.ts';
import { callGuardrail } from './call-guardrail.ts';

const values: TemplateValues = {
  text: 'hello',
  stage: 'pre_dispatch',
  operation: 'chat',
  model: 'gpt',
  lane: '',
  requestId: 'r',
  messages: [],
  body: {},
};

describe('a call to a guardrail', () => {
  let server: Server;
  let egress: Egress;
  let answer: (response: ServerResponse, request: IncomingMessage) => void;

  before(async () => {
    server = createServer((request, response) => {
      request.resume().once('end', () => answer(response, request));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    egress = createEgress({
      allowedCidrs: ['127.0.0.0/8'],
      connectTimeoutMs: 1_000,
      connectionsPerOriginMax: 10,
      originsMax: 4,
    });
  });
  after(async () => {
    await egress.close();
    server.closeAllConnections();
    await once(server.close(), 'close');
  });

  function call(over: Partial<Guardrail> = {}, stage: TemplateValues['stage'] = 'pre_dispatch') {
    const { port } = server.address() as AddressInfo;
    const asked = guardrail('g', { baseUrl: `http://127.0.0.1:${port}/judge/?v=1`, ...over });
    return callGuardrail({ egress, clock }, 'acme', asked, { ...values, stage });
  }
  const says = (text: string, status = 200) => {
    answer = (response) => void response.writeHead(status).end(text);
  };

  for (const [said, verdict] of [
    ['allow', 'allowed'],
    ['flag', 'flagged'],
    ['block', 'blocked'],
  ] as const) {
    it(`that says ${said} is ${verdict}`, async () => {
      says(JSON.stringify({ verdict: said }));
      const heard = await call();
      assert.deepEqual([heard.verdict, heard.cause, heard.rule?.value], [verdict, null, said]);
      assert.deepEqual(heard.sent, { text: 'hello', stage: 'pre_dispatch' });
      assert.equal(heard.received?.status, 200);
    });
  }

  it('goes to the very address, with the credential in its header and nowhere else', async () => {
    const seen: unknown[] = [];
    answer = (response, request) => {
      seen.push([request.method, request.url, request.headers.authorization, request.headers['x-key']]);
      response.end('{"verdict":"allow"}');
    };
    const secret = new Secret('s3cret');
    const first = await call({ authMode: 'bearer_static', secret });
    await call({ authMode: 'header_static', secretHeaderName: 'x-key', secret, httpMethod: 'PUT' });
    assert.deepEqual(seen, [
      ['POST', '/judge/?v=1', 'Bearer s3cret', undefined],
      ['PUT', '/judge/?v=1', undefined, 's3cret'],
    ]);
    assert.ok(!JSON.stringify(first).includes('s3cret'));
  });

  const rules = [{ path: '$', operator: 'exists', action: 'replace', replacement: 'x' }] as const;
  it('replaces an answer, and blocks where there is none yet', async () => {
    says('{}');
    assert.equal((await call({ rules }, 'post_response')).verdict, 'replaced');
    assert.equal((await call({ rules }, 'pre_dispatch')).verdict, 'blocked');
  });

  const failures: readonly (readonly [string, string, () => void, Partial<Guardrail>])[] = [
    ['an error status', 'bad_status', () => says('{"verdict":"allow"}', 500), {}],
    ['a redirect', 'bad_status', () => says('{"verdict":"allow"}', 302), {}],
    ['something that is not JSON', 'malformed', () => says('allow'), {}],
    ['an empty body', 'malformed', () => says(''), {}],
    ['an answer that no rule knows', 'no_rule_matched', () => says('{"ok":true}'), {}],
    [
      'more than it may',
      'too_large',
      () => says(`{"verdict":"allow"${' '.repeat(100)}}`),
      { maxResponseBytes: 50 },
    ],
    ['silence', 'timeout', () => (answer = () => undefined), { timeoutMs: 50 }],
    ['one byte at a time', 'timeout', drip, { timeoutMs: 100 }],
    [
      'half an answer',
      'malformed',
      () => (answer = (response) => void response.writeHead(200).write('{', () => response.destroy())),
      {},
    ],
    ['a closed connection', 'unreachable', () => (answer = (response) => response.destroy()), {}],
    ['no connection', 'unreachable', () => undefined, { baseUrl: 'http://127.0.0.1:1/' }],
    ['an address that may not be reached', 'unreachable', () => undefined, { baseUrl: 'http://10.0.0.1/' }],
    ['no usable credential', 'unreachable', () => says('{"verdict":"allow"}'), { authMode: 'bearer_static' }],
    [
      'a credential that no header takes',
      'unreachable',
      () => says('{"verdict":"allow"}'),
      { authMode: 'bearer_static', secret: new Secret('a\nb') },
    ],
    ['more to show than it takes', 'too_large', () => says('{"verdict":"allow"}'), { maxRequestBytes: 20 }],
  ];
  for (const [what, cause, prepare, over] of failures) {
    it(`with ${what} is unavailable: ${cause}`, async () => {
      prepare();
      const heard = await call(over);
      assert.deepEqual([heard.verdict, heard.cause, heard.rule], ['unavailable', cause, null]);
    });
  }

  /** Each byte arrives before the deadline, the complete answer after it. */
  function drip(): void {
    answer = (response) => {
      const text = '{"verdict":"allow"}';
      let at = 0;
      const timer = setInterval(() => {
        response.write(text[at] ?? ' ');
        at += 1;
        if (at > 100) response.end();
      }, 10);
      response.once('close', () => clearInterval(timer));
    };
  }
});
