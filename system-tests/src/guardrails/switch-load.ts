import { type Agent, request } from 'node:http';
import type { GuardrailSim, RequestLogEntry } from '@relay/provider-sim';
import type { Deployment } from '../harness/deployment.ts';

/** One request of the load, and how it ended. */
export interface Sent {
  readonly tag: string;
  readonly status: number;
  readonly code: string | null;
}

export interface LoadOptions {
  readonly lane: string;
  readonly name: string;
  readonly streaming?: boolean;
}

let sentSoFar = 0;

/** One request to one of the gateways in turn, with a mark among its words that provider and guardrail both see. */
export async function sendOne(
  { processes, apiToken }: Deployment,
  agent: Agent,
  { lane, name, streaming = false }: LoadOptions,
): Promise<Sent> {
  sentSoFar += 1;
  const tag = `<${name}-${sentSoFar}>`;
  const url = processes[sentSoFar % processes.length]?.url ?? '';
  const body = {
    model: lane,
    max_tokens: 5,
    messages: [{ role: 'user', content: tag }],
    ...(streaming ? { stream: true } : {}),
  };
  return new Promise((resolve) => {
    const sending = request(`${url}/v1/chat/completions`, {
      method: 'POST',
      agent,
      headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
    });
    sending.on('error', (error) => resolve({ tag, status: 0, code: error.message }));
    sending.on('response', (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve({ tag, status: response.statusCode ?? 0, code: codeOf(text) }));
      response.on('error', (error) => resolve({ tag, status: 0, code: error.message }));
    });
    sending.end(JSON.stringify(body));
  });
}

export interface Load {
  stop(): Promise<Sent[]>;
}

/** So many a second, evenly, until it is stopped. */
export function startLoad(
  deployment: Deployment,
  agent: Agent,
  perSecond: number,
  options: LoadOptions,
): Load {
  const sent: Promise<Sent>[] = [];
  const startMs = performance.now();
  // A timer that is late catches up, so that the rate is what it says.
  const timer = setInterval(() => {
    const due = ((performance.now() - startMs) / 1_000) * perSecond;
    while (sent.length < due) sent.push(sendOne(deployment, agent, options));
  }, 5);
  return {
    async stop() {
      clearInterval(timer);
      return Promise.all(sent);
    },
  };
}

/** The mark among the words of a request, as the provider got it. */
export function tagAt({ body }: RequestLogEntry): string {
  return /<[\w-]+>/.exec(body?.toString() ?? '')?.[0] ?? '';
}

/** The marks that a guardrail was asked about. */
export function tagsAsked({ log }: GuardrailSim): Set<string> {
  return new Set(log.map(({ body }) => String((body as { text?: unknown }).text)));
}

function codeOf(text: string): string | null {
  return /"code":"(\w+)"/.exec(text)?.[1] ?? null;
}
