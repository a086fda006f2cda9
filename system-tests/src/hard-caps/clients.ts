import { request } from 'node:http';
import type { Fleet } from '../chaos/fleet.ts';
import type { Random } from '../chaos/random.ts';
import { afterMs } from '../harness/until.ts';
import type { Cap } from './caps.ts';
import { somePrompt } from './prompts.ts';

/** More than any cap, so that the provider writes to the last token of the one that it gets. */
const ENDLESS = 1_000_000;
const FRAMES = 4;
const ANSWER_MS_MAX = 60_000;
const START_MS_MAX = 400;
/** Clients wait as long as they are told to, but for this: caps of a day would end the run. */
const PAUSE_MS_MAX = 4_000;
/** Of a cap, one after the other, when nothing more fits into it. */
const REFUSALS_MIN = 40;
const NO_ANSWER = { status: 0, code: '', retryMs: 400 };
const PATHS = { chat: '/v1/chat/completions', responses: '/v1/responses' } as const;

export interface Load {
  /** How often clients got each status and error code; 0 for no answer. */
  readonly answers: ReadonlyMap<string, number>;
  /** Whether every cap was refused several times since it served last. */
  areUsedUp(): boolean;
  /** Ends the requests that are underway. */
  stop(): Promise<void>;
}

/** Clients that ask again and again, each with a cap of its own, whatever they get. */
export function startClients(fleet: Fleet, caps: readonly Cap[], count: number, random: Random): Load {
  const answers = new Map<string, number>();
  /** By cap: refusals since a request was served. */
  const refusals = new Map<string, number>();
  let stopping = false;

  async function client(cap: Cap, index: number): Promise<void> {
    await afterMs(random.between(0, START_MS_MAX));
    for (let turn = 0; !stopping; turn += 1) {
      const living = fleet.gateways.flatMap(({ process }) => (process === null ? [] : [process.url]));
      const tag = `${cap.name}/${index}-${turn}`;
      const { status, code, retryMs } =
        living.length === 0 ? NO_ANSWER : await ask(random.pick(living), cap, tag, random);
      const answer = `${status}${code === '' ? '' : ` ${code}`}`;
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
      if (status === 200) refusals.set(cap.name, 0);
      if (status === 429) refusals.set(cap.name, (refusals.get(cap.name) ?? 0) + 1);
      const pauseMs = Math.min(retryMs, PAUSE_MS_MAX);
      if (status !== 200) await afterMs(random.between(pauseMs / 2, pauseMs));
    }
  }

  const running = Array.from({ length: count }, (_, index) => {
    const cap = caps[index % caps.length];
    return cap === undefined ? Promise.resolve() : client(cap, index);
  });
  return {
    answers,
    areUsedUp: () => caps.every(({ name }) => (refusals.get(name) ?? 0) >= REFUSALS_MIN),
    async stop() {
      stopping = true;
      await Promise.all(running);
    },
  };
}

interface Answer {
  readonly status: number;
  readonly code: string;
  /** How long the client is asked to wait. */
  readonly retryMs: number;
}

/** Sends one request on its own connection, without a limit on the output. Never rejects: the gateway may be dead. */
function ask(url: string, cap: Cap, tag: string, random: Random): Promise<Answer> {
  const { text, tokens } = somePrompt(random, cap.counts);
  const operation = random.pick(['chat', 'responses'] as const);
  const said = operation === 'chat' ? { messages: [{ role: 'user', content: text }] } : { input: text };
  const sim = { promptTokens: tokens, outputTokens: ENDLESS, frames: FRAMES, tag };
  const body = JSON.stringify({ model: cap.name, ...said, stream: random.chance(0.5), sim });
  return new Promise((resolve) => {
    const sending = request(url + PATHS[operation], {
      method: 'POST',
      agent: false,
      headers: {
        authorization: `Bearer ${cap.token}`,
        'content-type': 'application/json',
        'x-request-id': tag,
      },
    });
    const timer = setTimeout(() => sending.destroy(), ANSWER_MS_MAX);
    let { status, retryMs } = NO_ANSWER;
    let text = '';
    sending.on('error', () => undefined);
    sending.on('response', (response) => {
      status = response.statusCode ?? 0;
      retryMs = 1_000 * Number(response.headers['retry-after'] ?? retryMs / 1_000);
      response.on('error', () => undefined);
      response.setEncoding('utf8');
      // Only errors are read.
      response.on('data', (chunk: string) => {
        if (status !== 200) text += chunk;
      });
    });
    sending.on('close', () => {
      clearTimeout(timer);
      resolve({ status, code: /"code": ?"(\w+)"/.exec(text)?.[1] ?? '', retryMs });
    });
    sending.end(body);
  });
}
