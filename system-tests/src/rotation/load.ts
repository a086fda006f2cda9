import { Agent, request } from 'node:http';

const TICK_MS = 50;

/** Where the load goes now, as a load balancer knows it: the suite takes a process out before it stops it. */
export interface Target {
  urls: string[];
  /** The tokens and keys that clients send, in turn. */
  tokens: string[];
}

export interface Load {
  /** Resolves when all that was sent until now is answered. */
  settled(): Promise<void>;
  /** Sends nothing more and waits for what is open; what failed, in words, one for each. */
  stop(): Promise<{ readonly requests: number; readonly failures: readonly string[] }>;
}

/** Clients that keep their connections and never retry: what fails, fails. */
export function startLoad(target: Target, model: string, perSecond: number): Load {
  const agent = new Agent({ keepAlive: true });
  const sent: Promise<string | null>[] = [];
  const startMs = performance.now();
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - startMs) / 1_000) * perSecond);
    // A machine that was busy does not owe the load a burst.
    const now = Math.min(due - sent.length, perSecond / 4);
    for (let index = 0; index < now; index += 1) sent.push(send(agent, target, sent.length, model));
  }, TICK_MS);
  return {
    async settled() {
      await Promise.all(sent);
    },
    async stop() {
      clearInterval(timer);
      const results = await Promise.all(sent);
      agent.destroy();
      return { requests: results.length, failures: results.filter((result) => result !== null) };
    },
  };
}

function send(agent: Agent, target: Target, index: number, model: string): Promise<string | null> {
  const { urls, tokens } = target;
  const url = urls[index % urls.length] ?? '';
  const token = tokens[Math.floor(index / urls.length) % tokens.length] ?? '';
  const body = JSON.stringify({ model, max_tokens: 5, messages: [{ role: 'user', content: 'Count.' }] });
  return new Promise((resolve) => {
    const sending = request(`${url}/v1/chat/completions`, {
      method: 'POST',
      agent,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    });
    sending.on('error', (error) => resolve(`no answer: ${error.message}`));
    sending.on('response', (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('error', (error) => resolve(`broke off: ${error.message}`));
      response.on('end', () =>
        resolve(
          response.statusCode === 200
            ? null
            : `${response.statusCode} ${/"code":"(\w+)"/.exec(text)?.[1] ?? text.slice(-100)}`,
        ),
      );
    });
    sending.end(body);
  });
}
