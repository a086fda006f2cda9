import { Agent, type IncomingMessage, request } from 'node:http';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
  /** The body goes out in pieces that end at these places, without a length. */
  readonly cuts?: readonly number[] | undefined;
}

export interface Answer {
  /** 0 when the connection broke before a status line came. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** False when the connection broke, or the client hung up, before the end. */
  readonly whole: boolean;
}

/** Longer than a busy machine stands still: only an input that is never answered is a finding. */
const SILENCE_MS_MAX = 60_000;
/** An endless answer is looked at this long. */
const ENDLESS_BYTES = 1;

export interface Client {
  ask(url: string, asked: Asked): Promise<Answer>;
  close(): void;
}

/** Keeps its connections, as busy clients do. `endless`: answers of this path have no end, so the client hangs up. */
export function createClient(endless: RegExp = /\/requests\/stream/): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 64, scheduling: 'lifo' });
  return {
    close: () => agent.destroy(),
    async ask(url, asked) {
      const { isStale, ...answer } = await send(url, asked, agent, endless);
      // The server closed the idle connection while the request was on its way. What the input itself breaks, it breaks again.
      return isStale ? send(url, asked, false, endless) : answer;
    },
  };
}

const NOTHING: Answer = { status: 0, headers: {}, body: Buffer.alloc(0), whole: false };

function send(
  url: string,
  asked: Asked,
  agent: Agent | false,
  endless: RegExp,
): Promise<Answer & { readonly isStale: boolean }> {
  return new Promise((resolve) => {
    const { method, path, headers } = asked;
    const outgoing = request(url, { method, path, headers, agent, setHost: true });
    outgoing.setTimeout(SILENCE_MS_MAX, () => outgoing.destroy());
    outgoing.on('error', ({ code }: NodeJS.ErrnoException) =>
      resolve({ ...NOTHING, isStale: outgoing.reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE') }),
    );
    outgoing.on('response', (answer) => {
      void collect(answer, endless.test(path)).then((collected) => resolve({ ...collected, isStale: false }));
    });
    sendBody(outgoing, asked);
  });
}

function sendBody(outgoing: ReturnType<typeof request>, { body, cuts }: Asked): void {
  if (body === undefined || cuts === undefined) {
    outgoing.end(body);
    return;
  }
  let from = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    const piece = body.subarray(from, cut);
    // An empty chunk would end the body.
    if (piece.length > 0) outgoing.write(piece);
    from = Math.max(from, cut);
  }
  outgoing.end(body.subarray(from));
}

function collect(answer: IncomingMessage, isEndless: boolean): Promise<Answer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    answer.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (isEndless && chunk.length >= ENDLESS_BYTES) answer.destroy();
    });
    answer.on('error', () => undefined);
    answer.once('close', () => {
      const { statusCode = 0, headers, complete } = answer;
      resolve({ status: statusCode, headers, body: Buffer.concat(chunks), whole: complete });
    });
    if (isEndless && answer.statusCode === 200) setTimeout(() => answer.destroy(), 200).unref();
  });
}
