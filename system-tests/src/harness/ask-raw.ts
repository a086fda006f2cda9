import { createLane, type LaneIds } from './admin-client.ts';
import type { Deployment } from './deployment.ts';
import { type RawResponse, talk } from './raw-connection.ts';
import { exchangeRaw, type RawAnswer } from './raw-exchange.ts';

export const MODEL = 'sim-multi';

export interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** One request with the API token, unless its headers say otherwise. */
export function ask(
  site: Pick<Deployment, 'url' | 'apiToken'>,
  path: string,
  sent: Sent = {},
): Promise<RawAnswer> {
  return exchangeRaw({
    url: site.url + path,
    method: sent.method ?? (sent.body === undefined ? 'GET' : 'POST'),
    headers: { authorization: `Bearer ${site.apiToken}`, ...sent.headers },
    ...(sent.body === undefined ? {} : { body: JSON.stringify(sent.body) }),
  });
}

/** The same with the path as it is written: libraries resolve dots before they send it. */
export async function askAsWritten(
  site: Pick<Deployment, 'url' | 'apiToken'>,
  path: string,
): Promise<RawResponse> {
  const head = `GET ${path} HTTP/1.1\r\nhost: relay\r\nauthorization: Bearer ${site.apiToken}\r\n\r\n`;
  const { responses } = await talk({ url: site.url, send: (socket) => socket.write(head) });
  const [answer] = responses;
  if (answer === undefined) throw new Error(`${path} was not answered`);
  return answer;
}

export function errorOf(answer: RawAnswer): Record<string, unknown> {
  return (JSON.parse(answer.body.toString()) as { error: Record<string, unknown> }).error;
}

/** A lane with one endpoint of the simulated provider; its name is its slug. */
export function addLane(site: Deployment, name: string, lane: object = {}): Promise<LaneIds> {
  const endpoints = [{ baseUrl: site.provider.baseUrl, upstreamModel: MODEL }];
  return createLane(site.admin, { name, endpoints, lane: { ...lane } });
}

export function chatBody(model: string, more: object = {}): object {
  return { model, messages: [{ role: 'user', content: 'Say hello.' }], ...more };
}

/** What a browser asks before a page of this origin may call `/v1`. */
export const preflight = (origin: string) => ({
  method: 'OPTIONS',
  headers: {
    authorization: '',
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type,x-stainless-lang',
  },
});
