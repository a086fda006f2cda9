import assert from 'node:assert/strict';
import type { RequestDetail } from '@relay/contract';
import type { GuardrailLogEntry, RequestLogEntry } from '@relay/provider-sim';
import { exchangeRaw, type RawAnswer } from '../harness/raw-exchange.ts';
import { afterMs } from '../harness/until.ts';
import type { Cell, Operation } from './cell.ts';
import { guardrailSlug, keyOf, secondOf } from './config.ts';
import type { Site } from './site.ts';

const PATHS: Readonly<Record<Operation, string>> = {
  chat: '/chat/completions',
  responses: '/responses',
  embeddings: '/embeddings',
};
const RECORD_MS_MAX = 15_000;

/** What a cell has to show: the client's side, the provider's, the guardrail's, and the record. */
export interface CellResult {
  readonly place: string;
  readonly cell: Cell;
  readonly answer: RawAnswer;
  readonly seen: readonly RequestLogEntry[];
  /** What each guardrail of the cell was asked. */
  readonly asked: readonly (readonly GuardrailLogEntry[])[];
  readonly record: RequestDetail;
  readonly words: string;
}

export async function runCell(site: Site, place: string, cell: Cell): Promise<CellResult> {
  const { deployment, guardrails, agent } = site;
  const words = wordsOf(place, cell);
  // What stands in the body would meet every candidate.
  if (cell.fallback === true && cell.fault !== undefined)
    deployment.provider.script({ match: { key: keyOf(place) }, fault: cell.fault });
  const answer = await exchangeRaw({
    url: `${deployment.url}/v1${PATHS[cell.operation]}`,
    headers: { authorization: `Bearer ${deployment.apiToken}` },
    body: JSON.stringify(bodyOf(place, cell, words)),
    agent,
  });
  const record = await recordOf(site, answer.headers['x-request-id'] ?? '');
  const keys = [keyOf(place), keyOf(secondOf(place))];
  return {
    place,
    cell,
    answer,
    seen: deployment.provider.log.filter(({ key }) => keys.includes(key)),
    asked: cell.guards.map((_, index) =>
      guardrails.log.filter(({ path }) => path.startsWith(`/custom/${guardrailSlug(place, index)}/`)),
    ),
    record,
    words,
  };
}

/** Unlike those of any other cell, so that they would be found wherever they do not belong. */
function wordsOf(place: string, { words = '' }: Cell): string {
  return `words-of-${place} ${words}`.trim();
}

function bodyOf(
  place: string,
  { operation, streaming, request, fault, fallback }: Cell,
  words: string,
): object {
  const content =
    operation === 'chat'
      ? { messages: [{ role: 'user', content: words }], max_tokens: 20 }
      : { input: words, ...(operation === 'responses' ? { max_output_tokens: 20 } : { dimensions: 8 }) };
  return {
    model: place,
    ...content,
    ...(streaming ? { stream: true } : {}),
    ...(fault === undefined || fallback === true ? {} : { sim: fault }),
    ...request,
  };
}

/** The request's record, once it is written. */
async function recordOf({ deployment: { admin } }: Site, requestId: string): Promise<RequestDetail> {
  const endMs = performance.now() + RECORD_MS_MAX;
  for (;;) {
    const { status, body } = await admin.call('GET', `/api/relay/requests/${requestId}`);
    if (status === 200) return body as RequestDetail;
    assert.ok(performance.now() < endMs, `no record of ${requestId} within ${RECORD_MS_MAX} ms: ${status}`);
    await afterMs(60);
  }
}
