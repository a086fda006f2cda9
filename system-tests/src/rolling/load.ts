import { Agent, request } from 'node:http';

const TICK_MS = 50;
const TICKS_PER_SECOND = 1_000 / TICK_MS;
/** Of every ten requests one is a stream. */
const STREAM_EVERY = 10;

export interface LoadOptions {
  readonly url: string;
  readonly token: string;
  readonly perSecond: number;
  /** As many of them come together, once a second, and wait for their turns. */
  readonly crowd: number;
  readonly lanes: { readonly open: string; readonly limited: string };
}

export interface LoadResult {
  readonly requests: number;
  readonly streams: number;
  /** Requests that waited for capacity. */
  readonly waiters: number;
  /** In words, one for each. */
  readonly failures: readonly string[];
}

export interface Load {
  /** Sends nothing more, and waits for what is open. */
  stop(): Promise<LoadResult>;
}

interface Answer {
  readonly failure: string | null;
  readonly waitMs: number;
  readonly stream: boolean;
}

/** Clients with connections that they keep, and without retries: what fails, fails. */
export function startLoad({ url, token, perSecond, crowd, lanes }: LoadOptions): Load {
  const agent = new Agent({ keepAlive: true });
  const sent: Promise<Answer>[] = [];
  let ticks = 0;

  function send(model: string, stream: boolean): void {
    const sim = stream ? { frames: 20, frameDelayMs: 60 } : {};
    const messages = [{ role: 'user', content: 'Count.' }];
    const body = JSON.stringify({ model, stream, max_tokens: 30, messages, sim });
    sent.push(ask(agent, url, token, body, stream));
  }

  const timer = setInterval(() => {
    if (ticks % TICKS_PER_SECOND === 0)
      for (let index = 0; index < crowd; index += 1) send(lanes.limited, false);
    ticks += 1;
    const due = Math.round((ticks * (perSecond - crowd)) / TICKS_PER_SECOND);
    const before = Math.round(((ticks - 1) * (perSecond - crowd)) / TICKS_PER_SECOND);
    for (let index = before; index < due; index += 1) send(lanes.open, index % STREAM_EVERY === 0);
  }, TICK_MS);

  return {
    async stop() {
      clearInterval(timer);
      const answers = await Promise.all(sent);
      agent.destroy();
      return {
        requests: answers.length,
        streams: answers.filter(({ stream }) => stream).length,
        waiters: answers.filter(({ waitMs }) => waitMs > 0).length,
        failures: answers.flatMap(({ failure }) => failure ?? []),
      };
    },
  };
}

function ask(agent: Agent, url: string, token: string, body: string, stream: boolean): Promise<Answer> {
  return new Promise((resolve) => {
    const fail = (failure: string) => resolve({ failure, waitMs: 0, stream });
    const sending = request(`${url}/v1/chat/completions`, {
      method: 'POST',
      agent,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    });
    sending.on('error', (error) => fail(`no answer: ${error.message}`));
    sending.on('response', (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('error', (error) => fail(`${response.statusCode} broke off: ${error.message}`));
      response.on('end', () => {
        const whole = response.statusCode === 200 && (!stream || text.includes('[DONE]'));
        if (!whole) fail(`${response.statusCode} ${/"code":"(\w+)"/.exec(text)?.[1] ?? text.slice(-100)}`);
        else resolve({ failure: null, waitMs: Number(response.headers['x-relay-wait-ms'] ?? 0), stream });
      });
    });
    sending.end(body);
  });
}
