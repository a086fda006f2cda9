import { type Agent, request } from 'node:http';
import { afterMs } from '../harness/until.ts';
import { headersOf, pathOf, requestText } from './modes.ts';
import type { Bill } from './provider.ts';
import type { Situation } from './situations.ts';

/** How long before a client leaves, so that what the provider wrote has arrived at Relay. */
const LEAVE_MS = 120;

export interface Call {
  readonly url: string;
  readonly agent: Agent;
  readonly key: string;
  /** Names the request in the ledger. */
  readonly tag: string;
  readonly lane: string;
  readonly bill: Bill;
}

/** Sends the request of a situation, and leaves when the situation says so. Answers the headers; null if none arrived. */
export function call(
  { mode, index, leavesAfter }: Situation,
  { url, agent, key, tag, lane, bill }: Call,
): Promise<Readonly<Record<string, string>> | null> {
  const body = requestText(mode, lane, index);
  return new Promise((resolve) => {
    let headers: Readonly<Record<string, string>> | null = null;
    const outgoing = request(url + pathOf(mode), {
      method: 'POST',
      agent,
      headers: {
        ...headersOf(mode),
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'x-request-id': tag,
      },
    });
    outgoing.on('error', () => resolve(headers));
    outgoing.once('response', (answer) => {
      headers = answer.headers as Record<string, string>;
      answer.on('error', () => undefined);
      answer.resume();
      answer.once('close', () => resolve(headers));
    });
    outgoing.end(body);
    if (leavesAfter === undefined) return;
    void bill.played(leavesAfter).then(async () => {
      await afterMs(LEAVE_MS);
      outgoing.destroy();
      resolve(headers);
    });
  });
}
