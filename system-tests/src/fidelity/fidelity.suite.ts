import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { Agent } from 'node:http';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { createLane } from '../harness/admin-client.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { reportFigures } from '../harness/figures.ts';
import { readRequestLog } from '../harness/request-log.ts';
import { type AnswerCase, answerCase } from './answer-cases.ts';
import { exchangeRaw, headerLists, type RawAnswer } from './raw-exchange.ts';
import { laneNames, paths, type RequestCase, requestCase, upstreamModel } from './request-cases.ts';
import { type ScriptedUpstream, startScriptedUpstream } from './scripted-upstream.ts';

// Bodies pass unchanged in both directions, byte for byte. RELAY_FIDELITY_SEED repeats a run.

const BODIES = 2_000;
const AT_ONCE = 24;
const FAILURES_SHOWN = 5;
const seed = Number(process.env['RELAY_FIDELITY_SEED'] ?? randomInt(2 ** 31));

/** The provider's headers that a client gets; `content-length` is the gateway's own. */
const passedOn = new Set([
  'content-type',
  'content-encoding',
  'content-language',
  'cache-control',
  'openai-version',
  'openai-processing-ms',
]);

interface Case {
  readonly request: RequestCase;
  readonly answer: AnswerCase;
  /** Places, as parts of the whole, where the request body is split; empty sends it with its length. */
  readonly cuts: readonly number[];
}

const anyCase: fc.Arbitrary<Case> = requestCase.chain((request) =>
  fc.record({
    request: fc.constant(request),
    answer: answerCase(request),
    cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 3 }),
  }),
);

let deployment: Deployment;
let upstream: ScriptedUpstream;
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
const counts = { bodies: 0, changed: 0, answers: 0, streams: 0, compressed: 0, bytesMax: 0 };
let exchanges = 0;

before(async () => {
  [deployment, upstream] = await Promise.all([startDeployment(), startScriptedUpstream()]);
  const { baseUrl } = upstream;
  // In one lane a request that fails at the one would fall back, translated, to the other.
  await createLane(deployment.admin, { name: laneNames.openai, endpoints: [{ baseUrl, upstreamModel }] });
  const anthropic = { baseUrl, upstreamModel, endpoint: { protocol: 'anthropic' } };
  await createLane(deployment.admin, { name: laneNames.anthropic, endpoints: [anthropic] });
});
after(async () => {
  agent.destroy();
  await Promise.all([deployment.stop(), upstream.close()]);
  const { bodies, changed, answers, streams, compressed, bytesMax } = counts;
  reportFigures({ bodies, changed, seed, answers, streams, compressed, body_bytes_max: bytesMax });
});

describe('fidelity', () => {
  it(`passes ${BODIES} odd bodies and their odd answers unchanged (seed ${seed})`, async () => {
    const cases = fc.sample(anyCase, { numRuns: BODIES, seed });
    const failures: string[] = [];
    let next = 0;
    async function work(): Promise<void> {
      for (let index = next++; index < cases.length; index = next++) {
        const problem = await runCase(cases[index] as Case, `case-${index}`);
        counts.bodies += 1;
        if (problem !== null) failures.push(`case ${index}: ${problem}`);
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    counts.changed = failures.length;
    assert.equal(counts.bodies, BODIES);
    assert.equal(failures.length, 0, `seed ${seed}\n${failures.slice(0, FAILURES_SHOWN).join('\n')}`);
  });

  it('covers streams and compressed answers', () => {
    assert.ok(counts.streams > BODIES / 10, `${counts.streams} streams`);
    assert.ok(counts.compressed > BODIES / 10, `${counts.compressed} compressed answers`);
    assert.ok(counts.bytesMax > 500_000, `the largest body had ${counts.bytesMax} bytes`);
  });

  it('passes an answer that is too large to hold', async () => {
    const body = Buffer.alloc(9 * 1024 * 1024, '{"a": "é🙂", "b": [1, 2]}\n');
    const request = fc.sample(requestCase, { numRuns: 1, seed })[0] as RequestCase;
    const headers = ['content-type', 'application/json', 'content-length', String(body.length)];
    const answer: AnswerCase = { kind: 'json', status: 200, headers, pieces: [body], expected: body };
    assert.equal(await runCase({ request, answer, cuts: [] }, 'large-answer'), null);
  });

  it('writes one ledger row for every exchange', async () => {
    const deadlineMs = Date.now() + 10_000;
    for (;;) {
      const { length } = await readRequestLog(deployment.admin);
      if (length === exchanges) break;
      assert.ok(Date.now() < deadlineMs, `${length} rows for ${exchanges} exchanges\n${complaints()}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  });
});

/** The server's log above level info, shown when a test fails. */
function complaints(): string {
  const lines = deployment.processes
    .flatMap(({ logs }) => logs)
    .filter(({ level }) => level !== 30 && level !== 'info');
  return lines
    .slice(0, FAILURES_SHOWN)
    .map((line) => JSON.stringify(line))
    .join('\n');
}

/** Null when every byte arrived as it was sent; else what did not. */
async function runCase({ request, answer, cuts }: Case, key: string): Promise<string | null> {
  upstream.expect(key, answer);
  exchanges += 1;
  const seen = await exchangeRaw({
    url: deployment.url + paths[request.operation],
    agent,
    headers: {
      authorization: `Bearer ${deployment.apiToken}`,
      'content-type': 'application/json',
      [request.operation === 'messages' ? 'anthropic-beta' : 'openai-beta']: key,
      'accept-encoding': 'gzip, br;q=0.5, deflate, zstd',
      'user-agent': 'caf\u00e9/1.0 (odd)',
    },
    pieces: piecesOf(request.sent, cuts),
  });
  const received = upstream.received(key);
  upstream.forget(key);
  counts.bytesMax = Math.max(counts.bytesMax, request.sent.length);
  counts.answers += 1;
  if (answer.kind === 'stream') counts.streams += 1;
  if (answer.headers.includes('Content-Encoding')) counts.compressed += 1;
  return judge(request, answer, received, seen);
}

function piecesOf(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = cuts.map((place) => Math.floor(place * bytes.length)).sort((a, b) => a - b);
  const ends = [...places, bytes.length];
  return ends
    .map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
    .filter(({ length }) => length > 0);
}

function judge(
  request: RequestCase,
  answer: AnswerCase,
  received: readonly Buffer[],
  seen: RawAnswer,
): string | null {
  const about = `${request.operation}${request.streaming ? ' streaming' : ''}, ${answer.kind} ${answer.status}`;
  if (received.length !== 1) {
    return `${about}: the upstream was asked ${received.length} times; the client got ${seen.status} ${seen.body.subarray(0, 300)}`;
  }
  const upstreamDiffers = difference(request.expected, received[0] as Buffer);
  if (upstreamDiffers !== null) return `${about}: upstream body ${upstreamDiffers}`;
  if (seen.status !== answer.status) return `${about}: status ${seen.status} ${seen.body.subarray(0, 300)}`;
  if (!seen.whole) return `${about}: the answer was cut after ${seen.body.length} bytes`;
  const answerDiffers = difference(answer.expected, seen.body);
  if (answerDiffers !== null) return `${about}: answer ${answerDiffers}`;
  const sentHeaders = headerLists(answer.headers);
  // A length that no longer holds, or that a stream does not need, is the gateway's to leave out.
  sentHeaders.delete('content-length');
  for (const [name, values] of sentHeaders) {
    const arrived = seen.headers.get(name) ?? [];
    const expected = passedOn.has(name) ? values : [];
    if (JSON.stringify(arrived) !== JSON.stringify(expected)) {
      return `${about}: header ${name} was ${JSON.stringify(values)}, arrived as ${JSON.stringify(arrived)}`;
    }
  }
  return null;
}

function difference(expected: Buffer, actual: Buffer): string | null {
  if (expected.equals(actual)) return null;
  let at = 0;
  while (at < expected.length && expected[at] === actual[at]) at += 1;
  const around = (bytes: Buffer) =>
    JSON.stringify(bytes.subarray(Math.max(0, at - 60), at + 60).toString('latin1'));
  return `differs at byte ${at} of ${expected.length} (got ${actual.length}):\n  expected ${around(expected)}\n  got      ${around(actual)}`;
}
