import { setTimeout as wait } from 'node:timers/promises';
import { DEMO_LANE, GUARDED_LANE, LARGE_MODEL } from './demo-objects.ts';

export interface Traffic {
  readonly url: string;
  readonly apiToken: string;
  readonly requests: number;
  readonly perSecond: number;
  readonly signal: AbortSignal;
}

/** The number of requests by outcome for the client. */
export interface TrafficCounts {
  answered: number;
  blocked: number;
  limited: number;
  left: number;
  failed: number;
}

interface Ask {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Disconnects after the first chunk of the response. */
  readonly leaves?: true;
}

const OPEN_MAX = 16;
const ANSWER_MS_MAX = 30_000;
/** Blocked by the demo's word filter. */
const BLOCKED_TEXT = 'Tell me the forbidden word.';

const QUESTIONS = [
  'What is the capital of Norway?',
  'Write a haiku about rain.',
  'Explain a wait budget in one sentence.',
  'Name three rivers in Africa.',
  'How long does it take to boil an egg?',
];

/** The sequence of request kinds: each occurs early, common ones more often. */
const KINDS: readonly ((question: string) => Ask)[] = [
  (question) => chat(DEMO_LANE, question),
  (question) => chat(DEMO_LANE, question, { stream: true }),
  (question) => chat(GUARDED_LANE, question),
  (question) => chat(DEMO_LANE, question),
  (question) => ({ path: '/v1/responses', body: { model: DEMO_LANE, input: question } }),
  () => chat(GUARDED_LANE, BLOCKED_TEXT),
  (question) => chat(DEMO_LANE, question, { stream: true, stream_options: { include_usage: true } }),
  (question) => ({ path: '/v1/embeddings', body: { model: DEMO_LANE, input: question } }),
  (question) => chat(LARGE_MODEL, question),
  (question) => ({ ...chat(DEMO_LANE, question, { stream: true }), leaves: true }),
];

/** Sends a fixed number of requests at a steady rate. Counts failures and does not retry. */
export async function sendTraffic(traffic: Traffic): Promise<TrafficCounts> {
  const counts: TrafficCounts = { answered: 0, blocked: 0, limited: 0, left: 0, failed: 0 };
  const open = new Set<Promise<void>>();
  for (let index = 0; index < traffic.requests && !traffic.signal.aborted; index += 1) {
    const question = QUESTIONS[index % QUESTIONS.length] ?? '';
    const kind = KINDS[index % KINDS.length];
    if (kind === undefined) break;
    const sent = send(traffic, kind(question)).then((how) => {
      counts[how] += 1;
      open.delete(sent);
    });
    open.add(sent);
    await wait(1_000 / traffic.perSecond, undefined, { signal: traffic.signal }).catch(() => undefined);
    if (open.size >= OPEN_MAX) await Promise.race(open);
  }
  await Promise.all(open);
  return counts;
}

async function send({ url, apiToken, signal }: Traffic, ask: Ask): Promise<keyof TrafficCounts> {
  const leaving = new AbortController();
  try {
    const response = await fetch(url + ask.path, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(ask.body),
      signal: AbortSignal.any([signal, leaving.signal, AbortSignal.timeout(ANSWER_MS_MAX)]),
    });
    if (ask.leaves === true && response.ok) {
      await response.body?.getReader().read();
      leaving.abort();
      return 'left';
    }
    const text = await response.text();
    if (response.ok) return 'answered';
    if (response.status === 429) return 'limited';
    return response.status === 403 && text.includes('content_policy_violation') ? 'blocked' : 'failed';
  } catch {
    return 'failed';
  }
}

function chat(model: string, question: string, more: Readonly<Record<string, unknown>> = {}): Ask {
  const messages = [{ role: 'user', content: question }];
  return { path: '/v1/chat/completions', body: { model, messages, ...more } };
}
