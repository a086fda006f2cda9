import { ask, askMarked, CHAT, header, inferencePaths } from './asks.ts';
import { inferenceBodies } from './calls.ts';
import { type Answer, at } from './exchange.ts';
import { expect, expectEqual, expectStatus } from './expectation.ts';
import type { LaneName } from './lanes.ts';
import type { Site } from './site.ts';
import { rule, type Statement } from './statement.ts';
import { BODY_BYTES_MAX } from './walked.ts';

const refusals: readonly Statement[] = inferencePaths.flatMap((path) => [
  rule('7 400', `POST ${path} with a model that nothing serves answers 400`, async (site) => {
    expectStatus(await ask(site, 'no-such-model', { path }), 400);
  }),
  rule('7 413', `POST ${path} with a body above the size limit answers 413`, async (site) => {
    const body = { ...inferenceBodies[path], padding: 'x'.repeat(BODY_BYTES_MAX) };
    expectStatus(await ask(site, 'plain', { path, body }), 413);
  }),
  rule('7 413', `POST ${path} with a body just below the size limit is served`, async (site) => {
    const body = { padding: 'x'.repeat(BODY_BYTES_MAX - 1_000) };
    expectStatus(await ask(site, 'plain', { path, body }), 200);
  }),
  rule('7 502', `POST ${path} to an upstream that cannot be prepared answers 502`, async (site) => {
    const { answer, seen } = await askMarked(site, 'unprepared', { path });
    expectStatus(answer, 502);
    expectEqual(seen.length, 0, 'the requests at the provider');
  }),
  rule('7 502', `POST ${path} to an upstream that fails answers 502`, async (site) => {
    expectStatus(await ask(site, 'unreachable', { path }), 502);
  }),
]);

const failedGuards = ['/chat/completions', '/responses'].map((path) =>
  rule('7 503', `POST ${path} whose guardrail fails closed answers 503`, async (site) => {
    const { answer, seen } = await askMarked(site, 'guard fails', { path });
    expectStatus(answer, 503);
    expectEqual(seen.length, 0, 'the requests at the provider');
  }),
);

/** The provider throttles once, with nowhere else to go; what comes next does not fit the wait budget. */
const THROTTLE_SECONDS = 30;

function throttle(site: Site, lane: LaneName): Promise<Answer> {
  return site.once(`throttle of ${lane}`, () =>
    ask(site, lane, { fault: { status: 429, retryAfter: String(THROTTLE_SECONDS) } }),
  );
}

/** Every operation is refused while the only candidate has to be left alone; all are asked before it may be used again. */
export async function refusedBy(site: Site, path: string): Promise<Answer> {
  const refusals = await site.once('refusals', async () => {
    await throttle(site, 'throttled');
    return Promise.all(inferencePaths.map((each) => ask(site, 'throttled', { path: each })));
  });
  const refusal = refusals[inferencePaths.indexOf(path)];
  if (refusal === undefined) throw new Error(`no operation at ${path}`);
  return refusal;
}

const throttles: readonly Statement[] = [
  rule('7 429', 'a provider’s throttle with nowhere else to go answers 429', async (site) => {
    expectStatus(await throttle(site, 'throttled too'), 429);
  }),
  rule('7 rule 1', 'its Retry-After is passed on in seconds', async (site) => {
    const answer = await throttle(site, 'throttled too');
    expectEqual(header(answer, 'retry-after'), String(THROTTLE_SECONDS), 'Retry-After');
  }),
  ...inferencePaths.flatMap((path) => [
    rule('7 429', `POST ${path} that no candidate fits in time answers 429`, async (site) => {
      expectStatus(await refusedBy(site, path), 429);
    }),
    rule('7 rule 1', `the 429 of POST ${path} carries Retry-After in seconds`, async (site) => {
      const value = header(await refusedBy(site, path), 'retry-after');
      expect(/^\d+$/.test(value) && Number(value) <= THROTTLE_SECONDS, 'whole seconds', value);
    }),
    rule('7 rule 2', `the error of POST ${path} has the type of a wait budget`, async (site) => {
      const answer = await refusedBy(site, path);
      expectEqual(at(answer.body, 'error.type'), 'rate_limit_wait_budget_exceeded', 'error.type');
    }),
    rule('7 rule 2', `the error of POST ${path} has a message, a string`, async (site) => {
      const answer = await refusedBy(site, path);
      expect(typeof at(answer.body, 'error.message') === 'string', 'a string', answer);
    }),
    rule('7 rule 2', `the error of POST ${path} has retry_after, integer seconds`, async (site) => {
      const answer = await refusedBy(site, path);
      const seconds = at(answer.body, 'error.retry_after');
      expect(
        Number.isInteger(seconds) && String(seconds) === header(answer, 'retry-after'),
        'seconds',
        answer,
      );
    }),
  ]),
];

/** Statuses that are the client's own, or that are left when no candidate is. */
const passed: readonly (readonly [path: string, status: number])[] = [
  ...inferencePaths.map((path) => [path, 422] as const),
  [CHAT, 400],
  [CHAT, 404],
  [CHAT, 409],
  [CHAT, 418],
  [CHAT, 500],
  [CHAT, 503],
];

/** Spacing and a number that a gateway which reads and writes JSON again would not keep. */
const wordsOf = (status: number) => `{ "error" : {"message":"no, ${status}","n":12345678901234567890} }\n`;

const passing = passed.flatMap(([path, status]) => {
  const passedOn = (site: Site) =>
    site.once(`passed ${path} ${status}`, () => {
      const bodyBase64 = Buffer.from(wordsOf(status)).toString('base64');
      return ask(site, 'plain', { path, fault: { status, bodyBase64 } });
    });
  return [
    rule('7 other', `status ${status} of the provider passes through on POST ${path}`, async (site) => {
      expectStatus(await passedOn(site), status);
    }),
    rule('7 other', `its body passes through unchanged (${status}, POST ${path})`, async (site) => {
      expectEqual((await passedOn(site)).text, wordsOf(status), 'the body');
    }),
  ];
});

export const section7: readonly Statement[] = [...refusals, ...failedGuards, ...throttles, ...passing];

/** A deployment without its store of limits; these statements come last, because nothing works afterwards. */
export const section7Last: readonly Statement[] = inferencePaths.map((path) =>
  rule('7 503', `POST ${path} without the store of limits answers 503`, async (site) => {
    await site.once('no store of limits', () => site.stopRedis());
    expectStatus(await ask(site, 'limited', { path }), 503);
  }),
);
