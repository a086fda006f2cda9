import { Agent, request } from 'node:http';
import { tagOf } from '../harness/provider-view.ts';
import { afterMs } from '../harness/until.ts';
import { type Gateways, MODEL } from './gateways.ts';

export interface Sent {
  readonly tag: string;
  readonly gateway: number;
  /** Whether it was sent after the change had been confirmed. */
  readonly after: boolean;
  /** 0 when the connection ended without an answer. */
  readonly status: number;
  readonly code: string | null;
}

/** Requests with one key, evenly in time and over the gateways, each with a mark that the provider logs. */
export interface Load {
  /** Marks all further requests as sent after the change, and sends some to every gateway immediately. */
  confirm(): void;
  stop(): Promise<Sent[]>;
}

let loads = 0;
/** Sent immediately after a change is confirmed, before a gateway can have read it by polling. */
const AT_ONCE = 15;

export function startLoad({ deployment }: Gateways, key: string, perSecond: number): Load {
  loads += 1;
  const name = `load-${loads}`;
  const agent = new Agent({ keepAlive: true });
  const urls = deployment.processes.map(({ url }) => url);
  const sent: Promise<Sent>[] = [];
  let confirmed = false;
  function sendOne(): void {
    const gateway = sent.length % urls.length;
    const tag = `${name}-${sent.length}`;
    const after = confirmed;
    const answer = send(urls[gateway] ?? '', key, tag, agent);
    sent.push(answer.then(({ status, code }) => ({ tag, gateway, after, status, code })));
  }
  const timer = setInterval(sendOne, 1_000 / perSecond);
  return {
    confirm() {
      confirmed = true;
      for (let index = 0; index < AT_ONCE; index += 1) sendOne();
    },
    async stop() {
      clearInterval(timer);
      const all = await Promise.all(sent);
      agent.destroy();
      return all;
    },
  };
}

export interface Answered {
  readonly status: number;
  readonly code: string | null;
}

/** One request to every gateway, at the same time. */
export function askEverywhere({ deployment }: Gateways, key: string, tag: string): Promise<Answered[]> {
  return Promise.all(deployment.processes.map(({ url }) => send(url, key, tag, undefined)));
}

/** Until every gateway answers so; for grants, which may take a poll to arrive. */
export async function untilEverywhere(gateways: Gateways, key: string, status: number): Promise<void> {
  const endMs = performance.now() + 10_000;
  for (;;) {
    const answers = await askEverywhere(gateways, key, 'until');
    if (answers.every((answer) => answer.status === status)) return;
    if (performance.now() > endMs) throw new Error(`not ${status} everywhere: ${JSON.stringify(answers)}`);
    await afterMs(50);
  }
}

/** Tags of requests that the provider itself has seen. */
export function dispatchedTags({ deployment }: Gateways): Set<string> {
  return new Set(deployment.provider.log.map(tagOf));
}

function send(url: string, key: string, tag: string, agent: Agent | undefined): Promise<Answered> {
  const messages = [{ role: 'user', content: 'Count.' }];
  return new Promise((resolve) => {
    const sending = request(`${url}/v1/chat/completions`, {
      method: 'POST',
      agent: agent ?? false,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    });
    sending.on('error', (error) => resolve({ status: 0, code: error.message }));
    sending.on('response', (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, code: codeOf(text) }));
    });
    sending.end(JSON.stringify({ model: MODEL, max_tokens: 5, messages, sim: { tag } }));
  });
}

function codeOf(text: string): string | null {
  const { error } = JSON.parse(text) as { error?: { code: string } };
  return error?.code ?? null;
}
