import { headers as names } from '@relay/contract';
import { ask, askMarked, CHAT, eventually, header, inferencePaths, recordOf } from './asks.ts';
import { WORDS } from './calls.ts';
import { exchange } from './exchange.ts';
import { expect, expectEqual, expectStatus } from './expectation.ts';
import { answerOf, nameOf, operations } from './from-headers.ts';
import { type LaneName, MODEL } from './lanes.ts';
import { onlyHosted, selfHosted } from './mode.ts';
import { memberOf } from './people.ts';
import type { Site } from './site.ts';
import { rule, type Statement } from './statement.ts';

const SLOW_MS = 400;
const CREDENTIAL = 'sk-upstream';

const forwarding = inferencePaths.flatMap((path) => [
  rule('1.1', `POST ${path} is forwarded to the configured upstream endpoint`, async (site) => {
    const { answer, seen } = await askMarked(site, 'plain', { path });
    expectStatus(answer, 200);
    expectEqual(
      seen.map((entry) => entry.path),
      [`/v1${path}`],
      'the paths that the provider was asked for',
    );
  }),
  rule('1.2', `POST ${path} reaches the provider with the endpoint's upstream model`, async (site) => {
    const { seen } = await askMarked(site, 'plain', { path });
    expectEqual(seen[0]?.model, MODEL, 'the model that the provider was asked for');
  }),
]);

/** The lane's first endpoint cannot be chosen for this reason, so its second is. */
const switchedOff: readonly (readonly [LaneName, string])[] = [
  ['first endpoint off', 'endpoint'],
  ['first membership off', 'membership'],
  ['first provider off', 'provider'],
];

const candidates: readonly Statement[] = [
  ...switchedOff.map(([lane, what]) =>
    rule('1.3', `a disabled ${what} gives no candidate`, async (site) => {
      const answer = await ask(site, lane);
      expectStatus(answer, 200);
      expectEqual(header(answer, names.selectedEndpointId), site.lanes[lane].endpointIds[1], 'the endpoint');
      expectEqual(header(answer, names.fallbackCount), '0', 'the count of fallbacks');
    }),
  ),
  rule('1.3', 'a disabled lane is not served', async (site) => {
    expectStatus(await ask(site, 'switched off'), 400);
  }),
  rule('1.3', 'another candidate serves after a failure, and X-Relay-Fallback-Count says 1', async (site) => {
    const answer = await site.once('fallback', () => ask(site, 'falls back'));
    expectStatus(answer, 200);
    expectEqual(header(answer, names.fallbackCount), '1', 'the count of fallbacks');
    const second = site.lanes['falls back'].endpointIds[1];
    expectEqual(header(answer, names.selectedEndpointId), second, 'the endpoint');
  }),
  rule('1.3', 'a lane without allow_fallback stays with its first candidate', async (site) => {
    expectStatus(await ask(site, 'stays'), 502);
  }),
  rule('1.3', 'a request waits for capacity within the wait budget of its lane', async (site) => {
    const first = ask(site, 'narrow', { fault: { delayMs: SLOW_MS } });
    const second = ask(site, 'narrow', { fault: { delayMs: SLOW_MS } });
    const answers = await Promise.all([first, second]);
    for (const answer of answers) expectStatus(answer, 200);
    const waits = answers.map((answer) => Number(header(answer, names.waitMs))).toSorted((a, b) => a - b);
    expect((waits[0] ?? 0) < SLOW_MS && (waits[1] ?? 0) >= SLOW_MS / 2, 'one of two to wait', waits);
  }),
];

const streams: readonly Statement[] = [
  rule('1.4', 'a stream that an endpoint does not support is refused', async (site) => {
    expectStatus(await ask(site, 'whole answers only', { body: { stream: true } }), 400);
  }),
  rule('1.4', 'the same request as a whole is served', async (site) => {
    expectStatus(await ask(site, 'whole answers only'), 200);
  }),
  rule('1.4', 'a committed stream that breaks is not restarted elsewhere', async (site) => {
    const fault = { frames: 12, cutAfterFrames: 6 };
    const { answer, seen } = await askMarked(site, 'breaks', { fault, body: { stream: true } });
    expectStatus(answer, 200);
    expectEqual(seen.length, 1, 'the requests at the provider');
    expect(!answer.text.includes('[DONE]'), 'a stream that does not end as if it were whole', answer);
    expect(answer.text.includes('"error"'), 'an error in the stream', answer);
  }),
];

const guarded: readonly Statement[] = [
  ...['/chat/completions', '/responses'].flatMap((path) => [
    rule('1.5', `a guarded POST ${path} is served, and the guardrail was asked`, async (site) => {
      const before = site.guardrails.log.length;
      expectStatus(await ask(site, 'guarded', { path }), 200);
      expect(site.guardrails.log.length > before, 'a request at the guardrail', site.guardrails.log.length);
    }),
    rule('1.5', `a guarded POST ${path} as a stream is refused, and not forwarded`, (site) =>
      expectGuardRefusal(site, path, { stream: true }),
    ),
  ]),
  rule('1.5', 'a guarded POST /embeddings is refused, and not forwarded', (site) =>
    expectGuardRefusal(site, '/embeddings', {}),
  ),
];

async function expectGuardRefusal(site: Site, path: string, body: object): Promise<void> {
  const { answer, seen } = await askMarked(site, 'guarded', { path, body });
  expectStatus(answer, 400);
  expectEqual(seen.length, 0, 'the requests at the provider');
}

/** What a client may claim about itself. */
const claims = {
  'x-relay-context': 'e30.e30.e30',
  'x-relay-organization-id': 'mine',
  'x-relay-user-id': 'me',
  cookie: 'relay_session=mine',
};

const hosted: readonly Statement[] = [
  rule(
    '1.7',
    'the platform authenticates a browser session',
    async (site) => {
      const member = await site.once('developer', () => memberOf(site, 'developer'));
      await eventually(async () => (await ask(site, 'plain', { by: member })).status === 200, 'status 200');
    },
    onlyHosted,
  ),
  rule(
    '1.7',
    'the platform authenticates a User API key',
    async (site) => expectStatus(await ask(site, 'plain'), 200),
    onlyHosted,
  ),
  rule('1.7', 'context headers of the client never reach the provider', async (site) => {
    const { answer, seen } = await askMarked(site, 'plain', { headers: claims });
    expectStatus(answer, 200);
    const sent = (seen[0]?.rawHeaders ?? []).filter((_, index) => index % 2 === 0);
    const leaked = sent.filter((name) => /^(x-relay-|cookie$)/i.test(name));
    expectEqual(leaked, [], 'the headers that came through');
  }),
  rule('1.7', 'the provider is sent its own credential, and not the caller’s key', async (site) => {
    const { seen } = await askMarked(site, 'plain');
    expectEqual(seen[0]?.key, CREDENTIAL, 'the key at the provider');
    expect(!String(seen[0]?.rawHeaders).includes(site.apiKey), 'no key of the caller', seen[0]?.rawHeaders);
  }),
  ...[
    ['with a User API key', {}],
    ['with a context that the client made up', { 'x-relay-context': claims['x-relay-context'] }],
  ].map(([what, headers]) =>
    rule(
      '1.7',
      `the internal inference service called directly ${String(what)} answers 401`,
      async (site) => {
        const body = { model: 'plain', messages: [{ role: 'user', content: WORDS }] };
        const sending = { key: site.apiKey, body, headers: headers as Record<string, string> };
        const answer = await exchange(site.inferenceUrl ?? '', 'POST', `/v1${CHAT}`, sending);
        expectStatus(answer, 401);
      },
      onlyHosted,
    ),
  ),
];

/** What the metering of a request must not hold, as far as this request knows it. */
const secrets: readonly (readonly [string, (site: Site) => string])[] = [
  ['the prompt', () => WORDS],
  ['provider credentials', () => CREDENTIAL],
  ['the caller’s key', ({ apiKey }) => apiKey],
  ['the admin token', ({ adminKey }) => adminKey],
];

const metering: readonly Statement[] = [
  ...operations.flatMap((operation) =>
    secrets.map(([what, secretOf]) =>
      rule('1.8', `headers of ${nameOf(operation)} do not hold ${what}`, async (site) => {
        const answer = await answerOf(site, operation);
        const text = [...answer.headers].join('\n');
        expect(!text.includes(secretOf(site)), `no ${what}`, text);
      }),
    ),
  ),
  ...secrets.map(([what, secretOf]) =>
    rule('1.8', `the record of a request does not hold ${what}`, async (site) => {
      const record = await site.once('record', async () =>
        recordOf(site, await answerOf(site, { path: CHAT, streaming: false })),
      );
      expect(!record.text.includes(secretOf(site)), `no ${what}`, record);
    }),
  ),
  rule('1.8', 'the record of a request does not hold the response body', async (site) => {
    const answer = await answerOf(site, { path: CHAT, streaming: false });
    const record = await recordOf(site, answer);
    const { choices } = answer.body as { choices: { message: { content: string } }[] };
    const said = choices[0]?.message.content ?? '';
    expect(said.length > 10 && !record.text.includes(said), 'nothing of the response', record);
  }),
];

const tokens: readonly Statement[] = [
  ...inferencePaths.map((path) =>
    rule(
      '1.9',
      `RELAY_API_TOKEN opens POST ${path}`,
      async (site) => expectStatus(await ask(site, 'plain', { path, key: site.tokens?.api ?? '' }), 200),
      selfHosted,
    ),
  ),
  ...(
    [
      ['RELAY_API_TOKEN opens GET /models', 'api', '/v1/models', 200],
      ['RELAY_API_TOKEN does not open configuration', 'api', '/api/relay/providers', 401],
      ['RELAY_ADMIN_TOKEN opens configuration', 'admin', '/api/relay/providers', 200],
      ['RELAY_ADMIN_TOKEN does not open the gateway', 'admin', '/v1/models', 401],
      ['resource limit policies are available', 'admin', '/api/relay/limit-policies', 200],
    ] as const
  ).map(([says, which, path, status]) =>
    rule(
      '1.9',
      says,
      async (site) => {
        expectStatus(await site.call('GET', path, { key: site.tokens?.[which] ?? '' }), status);
      },
      selfHosted,
    ),
  ),
];

export const section1: readonly Statement[] = [
  ...forwarding,
  ...candidates,
  ...streams,
  ...guarded,
  ...hosted,
  ...metering,
  ...tokens,
];
