import type { Route } from '@relay/contract';
import { addressOf, type Sample } from '../../harness/examples.ts';
import { relayFetch } from '../../harness/relay-fetch.ts';

export interface Answer {
  readonly status: number;
  /** The status, and the code of an error: `200`, `403 insufficient_scope`. */
  readonly summary: string;
  /** Headers and body, as one text to search. */
  readonly text: string;
  readonly body: unknown;
  readonly headers: Headers;
}

/** Sends the example of a route. */
export async function send(
  url: string,
  route: Pick<Route, 'method' | 'path'>,
  sample: Sample,
  headers: Readonly<Record<string, string>>,
  expectsDeviation = false,
): Promise<Answer> {
  const request = { headers, body: sample.body, expectsDeviation };
  const answer = await relayFetch(url, route.method, addressOf(route, sample), request);
  const head = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
  return { ...answer, text: `${head}\n${answer.text}` };
}
