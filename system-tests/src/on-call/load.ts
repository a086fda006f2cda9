import { request } from 'node:http';

const ANSWER_MS_MAX = 60_000;
const STREAM_EVERY = 3;

export interface Served {
  readonly tag: string;
  readonly lane: string;
  readonly sentAtMs: number;
  /** 0: the connection ended without a response. */
  readonly status: number;
  /** The code of Relay's error; `cut` for a response that broke off. Null for one that was served. */
  readonly code: string | null;
}

export interface Asked {
  readonly url: string;
  readonly token: string;
  readonly lane: string;
  readonly tag: string;
  readonly stream?: boolean;
}

/** Sends one request on a connection of its own. Never rejects. */
export function ask({ url, token, lane, tag, stream = false }: Asked): Promise<Served> {
  const sentAtMs = Date.now();
  return new Promise((resolve) => {
    const sending = request(`${url}/v1/chat/completions`, {
      method: 'POST',
      agent: false,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-request-id': tag },
    });
    const timer = setTimeout(() => sending.destroy(), ANSWER_MS_MAX);
    let status = 0;
    let isWhole = false;
    let text = '';
    sending.on('error', () => undefined);
    sending.on('response', (response) => {
      status = response.statusCode ?? 0;
      response.on('error', () => undefined);
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => {
        isWhole = response.complete;
      });
    });
    sending.on('close', () => {
      clearTimeout(timer);
      const [, code = null] = /"code":"(\w+)"/.exec(text) ?? [];
      const isServed = status === 200 && isWhole && code === null;
      resolve({ tag, lane, sentAtMs, status, code: isServed ? null : (code ?? 'cut') });
    });
    const sim = stream ? { tag, frames: 6, frameDelayMs: 20 } : { tag, outputTokens: 8, delayMs: 30 };
    const messages = [{ role: 'user', content: 'What is there to see in Lisbon?' }];
    sending.end(JSON.stringify({ model: lane, messages, max_tokens: 50, stream, sim }));
  });
}

export interface Load {
  /** Everything that is over. */
  readonly served: readonly Served[];
  /** Tags begin with this from now on. */
  name(prefix: string): void;
  /** Sends to these lanes from now on, one after the other. */
  use(lanes: readonly string[]): void;
  /** Resolves when the last request is over. */
  stop(): Promise<void>;
}

/** Requests at a steady rate, whether or not the ones before are over. A third are streams. */
export function startLoad(options: {
  readonly url: string;
  readonly token: string;
  readonly perSecond: number;
  readonly lanes: readonly string[];
}): Load {
  const { url, token } = options;
  const served: Served[] = [];
  const open = new Set<Promise<void>>();
  let { lanes } = options;
  let prefix = 'quiet';
  let count = 0;
  const timer = setInterval(() => {
    count += 1;
    const lane = lanes[count % lanes.length] ?? '';
    const asked = { url, token, lane, tag: `${prefix}-${count}`, stream: count % STREAM_EVERY === 0 };
    const asking = ask(asked).then((each) => {
      served.push(each);
      open.delete(asking);
    });
    open.add(asking);
  }, 1_000 / options.perSecond);
  return {
    served,
    name(next) {
      prefix = next;
    },
    use(next) {
      lanes = next;
    },
    async stop() {
      clearInterval(timer);
      await Promise.all(open);
    },
  };
}
