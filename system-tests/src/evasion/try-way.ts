import type { Deployment } from '../harness/deployment.ts';
import { headersOf, modes, pathOf } from '../harness/mode.ts';
import { afterMs } from '../harness/until.ts';
import { familyOf, laneOf, type Metric } from './site.ts';
import { json, requestsBefore, type Way } from './way.ts';

const SENT = 9;
/** Relay settles a response shortly after sending it. */
const SETTLED_MS = 60;

export interface Tried {
  readonly served: number;
  /** An answer that a way must not get; null for none. */
  readonly unexpected: string | null;
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

export async function tryWay(
  deployment: Deployment,
  way: Way,
  index: number,
  metric: Metric,
): Promise<Tried> {
  const model = laneOf(index, metric);
  const send = (members: string) => ask(deployment, way, `{"model":${json(model)},${members}}`);
  const hiding = `${way.members},${simOf(way)}`;
  const { honest, trained } = requestsBefore(way);
  for (let each = 0; each < honest; each += 1) {
    await send(hiding);
    await afterMs(SETTLED_MS);
  }
  for (let each = 0; each < trained; each += 10)
    await Promise.all(Array.from({ length: 10 }, () => send(way.trained?.members ?? hiding)));
  if (trained > 0) await afterMs(SETTLED_MS);
  const answers: Answer[] = [];
  if (way.hangsUpAfter === undefined && way.fault?.status === undefined)
    answers.push(...(await Promise.all(Array.from({ length: SENT }, () => send(hiding)))));
  // What a request settles at is known only afterwards.
  else
    for (let each = 0; each < SENT; each += 1) {
      answers.push(await send(hiding));
      await afterMs(SETTLED_MS);
    }
  const served = answers.filter(({ status }) => status !== 429);
  const unexpected = served.find(({ status }) => status !== 200 && status !== way.fault?.status);
  return {
    served: served.length,
    unexpected: unexpected === undefined ? null : `${unexpected.status} ${unexpected.text.slice(0, 300)}`,
  };
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
  if (way.hangsUpAfter === undefined || response.status !== 200 || response.body === null)
    return { status: response.status, text: await response.text() };
  let bytes = 0;
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes >= way.hangsUpAfter) break;
  }
  stop.abort();
  return { status: response.status, text: '' };
}
