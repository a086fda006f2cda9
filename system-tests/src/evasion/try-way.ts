import { headers as names } from '@relay/contract';
import type { Deployment } from '../harness/deployment.ts';
import { headersOf, modes, pathOf } from '../harness/mode.ts';
import { amountOf, familyOf, hardLimitOf, laneOf, type Metric, usedBy } from './site.ts';
import { HARD_WORTH, json, requestsBefore, type Way } from './way.ts';

const SENT = 9;

export interface Tried {
  readonly served: number;
  /** An answer that a way must not get; null for none. */
  readonly unexpected: string | null;
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly requestId: string;
}

export async function tryWay(
  deployment: Deployment,
  way: Way,
  index: number,
  metric: Metric,
): Promise<Tried> {
  const model = laneOf(index, metric, 'estimate');
  const send = (members: string) => ask(deployment, way, `{"model":${json(model)},${members}}`);
  const hiding = `${way.members},${simOf(way)}`;
  const { honest, trained } = requestsBefore(way);
  for (let each = 0; each < honest; each += 1) await settled(deployment, await send(hiding));
  for (let each = 0; each < trained; each += 10)
    await Promise.all(
      Array.from({ length: 10 }, async () => settled(deployment, await send(way.trained?.members ?? hiding))),
    );
  const answers: Answer[] = [];
  if (way.hangsUpAfter === undefined && way.fault?.status === undefined)
    answers.push(...(await Promise.all(Array.from({ length: SENT }, () => send(hiding)))));
  // What a request settles at is known only afterwards.
  else for (let each = 0; each < SENT; each += 1) answers.push(await settled(deployment, await send(hiding)));
  const served = answers.filter(({ status }) => status !== 429);
  const unexpected = served.find(({ status }) => status !== 200 && status !== way.fault?.status);
  return {
    served: served.length,
    unexpected: unexpected === undefined ? null : shown(unexpected),
  };
}

export interface TriedHard {
  readonly used: number;
  readonly limit: number;
  readonly served: number;
  /** Relay said that nothing bounds the request. */
  readonly unbounded: boolean;
  readonly unexpected: string | null;
}

/** More requests than the limit is worth, concurrently and then one after the other. */
export async function tryHardWay(
  deployment: Deployment,
  way: Way,
  index: number,
  metric: Metric,
): Promise<TriedHard> {
  const model = laneOf(index, metric, 'hard');
  // Of what Relay bounds itself, the provider writes no more than it may.
  const capped = { promptTokens: way.input, outputTokens: way.output, frames: 1, tag: model };
  const isCapped = way.learned !== undefined && way.fault === undefined;
  const members = `${way.members},${isCapped ? `"sim":${json(capped)}` : simOf(way)}`;
  const send = () => ask(deployment, way, `{"model":${json(model)},${members}}`);
  const answers = await Promise.all(Array.from({ length: HARD_WORTH }, send));
  for (let each = 0; each < HARD_WORTH; each += 1) answers.push(await settled(deployment, await send()));
  const isUnbounded = ({ status, text }: Answer) => status === 400 && text.includes('unbounded_request');
  const served = answers.filter((answer) => answer.status !== 429 && !isUnbounded(answer));
  const unexpected = served.find(({ status }) => status !== 200 && status !== way.fault?.status);
  const counted = deployment.provider.log.filter(({ fault }) => fault?.tag === model);
  return {
    used: isCapped
      ? counted.reduce((sum, entry) => sum + usedBy(entry, metric), 0)
      : served.length * amountOf(way, metric),
    limit: hardLimitOf(way, metric),
    served: served.length,
    unbounded: answers.every(isUnbounded),
    unexpected: unexpected === undefined ? null : shown(unexpected),
  };
}

/** The same answer, when Relay has settled its request, which it does shortly after sending it. */
async function settled({ processes }: Deployment, answer: Answer): Promise<Answer> {
  await processes[0]?.sync(`settled ${answer.requestId}`);
  return answer;
}

function shown({ status, text }: Answer): string {
  return `${status} ${text.slice(0, 300)}`;
}

/** Translated requests have no room for it: the provider then counts what it sees. */
function simOf(way: Way): string {
  const isTranslated = familyOf(way) !== (way.operation === 'messages' ? 'anthropic' : 'openai');
  if (isTranslated) return '"stream":false';
  const sim = way.fault ?? { outputTokens: 1, claimedInput: way.input, claimedOutput: way.output };
  return `"sim":${json(sim)}`;
}

async function ask({ url, apiToken }: Deployment, way: Way, body: string): Promise<Answer> {
  const mode = modes[way.operation];
  const stop = new AbortController();
  const response = await fetch(`${url}/v1${pathOf(mode)}`, {
    method: 'POST',
    headers: { ...headersOf(mode), authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
    body,
    signal: stop.signal,
  });
  const requestId = response.headers.get(names.requestId) ?? '';
  if (way.hangsUpAfter === undefined || response.status !== 200 || response.body === null)
    return { status: response.status, text: await response.text(), requestId };
  let bytes = 0;
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes >= way.hangsUpAfter) break;
  }
  stop.abort();
  return { status: response.status, text: '', requestId };
}
