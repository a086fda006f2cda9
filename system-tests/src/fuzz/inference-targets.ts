import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Random } from '../chaos/random.ts';
import type { Answer } from './ask.ts';
import { type Operation, operationOf } from './document.ts';
import { judge, offContract, shown, type Verdict } from './judge.ts';
import { bodyOf } from './mutate.ts';
import { bearer } from './routes-target.ts';
import { saysHowItEnded } from './stream-ends.ts';
import type { Target } from './target.ts';

const asking: readonly Operation[] = [
  operationOf('createChatCompletion'),
  operationOf('createResponse'),
  operationOf('createEmbeddings'),
  operationOf('createMessage'),
];

/** Bodies of inference: mutated JSON, content encodings, chunks. */
export const bodiesTarget: Target = {
  name: 'bodies',
  weight: 20,
  async one({ random, site, ground }) {
    const operation = random.pick(asking);
    const plain = bodyOf(requestFor(operation, random, ground.lane), random);
    const headers: Record<string, string> = {
      ...bearer(ground.inference.key),
      'content-type': 'application/json',
    };
    let body = plain;
    if (random.chance(0.08)) {
      headers['content-encoding'] = random.pick([
        'gzip',
        'br',
        'deflate',
        'zstd',
        'identity',
        'gzip, gzip',
        'é',
        '',
      ]);
      if (random.chance(0.5))
        body = headers['content-encoding'] === 'br' ? brotliCompressSync(plain) : gzipSync(plain);
    }
    if (random.chance(0.04))
      headers['content-type'] = random.pick(['text/plain', 'application/json;charset=latin1', 'a/b', '']);
    const cuts = random.chance(0.3)
      ? Array.from({ length: random.between(0, 8) }, () => random.between(0, body.length))
      : undefined;
    const answer = await site.client.ask(site.selfHosted.url, {
      method: 'POST',
      path: operation.path,
      headers,
      body,
      cuts,
    });
    const verdict = judge(operation, answer) ?? judgeRelayed(operation, answer);
    return {
      verdict,
      status: answer.status,
      shown: `${operation.path} ${JSON.stringify({ ...headers, authorization: '…' })} ${plain.toString('utf8', 0, 400)}`,
    };
  },
};

/** Answers of providers: a raw server writes whatever the seed says. */
export const answersTarget: Target = {
  name: 'answers',
  weight: 12,
  async one({ random, site, ground, tag }) {
    const operation = random.pick(asking);
    const lane = random.pick(ground.rawLanes);
    const value = { ...requestFor(operation, random, lane), stream: random.chance(0.6), user: tag };
    const headers = {
      ...bearer(ground.inference.key),
      'content-type': 'application/json',
      'x-request-id': tag,
    };
    const body = Buffer.from(JSON.stringify(value));
    const answer = await site.client.ask(site.selfHosted.url, {
      method: 'POST',
      path: operation.path,
      headers,
      body,
    });
    const verdict = judgePassedOn(operation, answer) ?? judgeRelayed(operation, answer);
    return { verdict, status: answer.status, shown: `${operation.path} ${lane} ${tag}` };
  },
};

function requestFor(operation: Operation, random: Random, model: string): Record<string, unknown> {
  const words = random.pick(['hello', 'é😀', 'x'.repeat(random.between(1, 3_000))]);
  const more = {
    ...(random.chance(0.3) ? { stream: true } : {}),
    ...(random.chance(0.3) ? { max_tokens: random.between(1, 50) } : {}),
    ...(random.chance(0.1) ? { tools: [{ type: 'function', function: { name: 'f', parameters: {} } }] } : {}),
    ...(random.chance(0.2) ? { temperature: 0.5, n: random.between(1, 3), metadata: { a: 'b' } } : {}),
  };
  if (operation.id === 'createChatCompletion')
    return { model, messages: [{ role: 'user', content: words }], ...more };
  if (operation.id === 'createMessage')
    return { model, max_tokens: 50, messages: [{ role: 'user', content: words }], ...more };
  if (operation.id === 'createResponse') return { model, input: words, ...more };
  return { model, input: random.chance(0.5) ? words : [words, 'b'] };
}

/** A provider's own success may have any status of its class; its errors are marked as its own. */
function judgePassedOn(operation: Operation, answer: Answer): Verdict | null {
  const { status } = answer;
  if (status >= 200 && status < 300) return null;
  return judge(operation, answer);
}

/** What a client can count on in whatever is relayed: JSON is JSON, and a stream says how it ended. */
function judgeRelayed({ id }: Operation, answer: Answer): Verdict | null {
  const { status, headers, body, whole } = answer;
  if (status !== 200 || headers['content-encoding'] !== undefined || !whole) return null;
  const type = String(headers['content-type']);
  if (type.startsWith('application/json') && !isWholeObject(body))
    return offContract(`a 200 that is not JSON${shown(answer)}`);
  if (type.startsWith('text/event-stream') && !saysHowItEnded(id, body.toString('latin1')))
    return offContract(
      `a stream that ends without an end: …${JSON.stringify(body.toString('utf8').slice(-200))}`,
    );
  if (headers['set-cookie'] !== undefined)
    return offContract(`a cookie of the provider's: ${String(headers['set-cookie'])}`);
  return null;
}

/** Relay checks the structure of an answer. What is inside strings, and how numbers are spelled, is between provider and client. */
function isWholeObject(body: Buffer): boolean {
  return /^\s*\{.*\}\s*$/s.test(body.toString('latin1'));
}
