import { headers as names } from '@relay/contract';
import { readEvents } from '@relay/contract/client';
import { errorOf } from '../../errors/api-error.ts';
import {
  answerOf,
  bodyOf,
  deltaOf,
  headersOf,
  paths,
  type Settings,
  type Turn,
  usageOf,
  vectorsOf,
} from './request.ts';

/** What Relay decided and measured, from the response headers and the page's clock. */
export interface Facts {
  readonly requestId: string | null;
  readonly endpoint: string | null;
  readonly upstreamModel: string | null;
  readonly waitMs: number | null;
  readonly fallbacks: number | null;
  readonly overheadMs: number | null;
  readonly estimatedInput: number | null;
  readonly estimatedOutput: number | null;
  readonly estimatedCostMicros: number | null;
  readonly costMicros: number | null;
  readonly input: number | null;
  readonly output: number | null;
  readonly firstMs: number | null;
  readonly totalMs: number | null;
}

export interface RunUpdates {
  readonly onFacts: (facts: Partial<Facts>) => void;
  readonly onText: (text: string) => void;
  readonly onVectors: (vectors: readonly (readonly number[])[]) => void;
}

export interface RunInput {
  readonly settings: Settings;
  readonly turns: readonly Turn[];
  readonly csrfToken: string;
  readonly signal: AbortSignal;
}

/** Sends one request and reports the response as it arrives. Throws the server's error. */
export async function runRequest(input: RunInput, updates: RunUpdates): Promise<void> {
  const { settings, turns, signal } = input;
  const startedMs = performance.now();
  const response = await fetch(paths[settings.operation], {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...headersOf(settings.operation),
      [names.csrfToken]: input.csrfToken,
    },
    body: JSON.stringify(bodyOf(settings, turns)),
    signal,
  });
  updates.onFacts(factsOf(response.headers));
  if (!response.ok) throw await errorOf(response);
  const streamed = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (streamed) await readStream(response, settings, startedMs, updates);
  else await readBody(response, settings, updates);
  updates.onFacts({ totalMs: performance.now() - startedMs });
}

async function readBody(response: Response, { operation }: Settings, updates: RunUpdates): Promise<void> {
  const body: Readonly<Record<string, unknown>> = await response.json();
  if (operation === 'embeddings') updates.onVectors(vectorsOf(body));
  else updates.onText(answerOf(operation, body));
  reportUsage(JSON.stringify(body), updates);
}

async function readStream(
  response: Response,
  { operation }: Settings,
  startedMs: number,
  updates: RunUpdates,
): Promise<void> {
  let isFirst = true;
  for await (const { data } of readEvents(response.body)) {
    const text = deltaOf(operation, data);
    if (text !== '' && isFirst) {
      isFirst = false;
      updates.onFacts({ firstMs: performance.now() - startedMs });
    }
    if (text !== '') updates.onText(text);
    reportUsage(data, updates);
  }
}

function reportUsage(json: string, updates: RunUpdates): void {
  const usage = usageOf(json);
  if (usage !== null) updates.onFacts({ input: usage.input, output: usage.output });
}

function factsOf(headers: Headers): Partial<Facts> {
  const number = (name: string) => {
    const value = headers.get(name);
    return value === null ? null : Number(value);
  };
  return {
    requestId: headers.get(names.requestId),
    endpoint: headers.get(names.selectedEndpoint),
    upstreamModel: headers.get(names.selectedUpstreamModel),
    waitMs: number(names.waitMs),
    fallbacks: number(names.fallbackCount),
    overheadMs: number(names.overheadMs),
    estimatedInput: number(names.estimatedInputTokens),
    estimatedOutput: number(names.estimatedOutputTokens),
    estimatedCostMicros: number(names.estimatedCostMicros),
    costMicros: number(names.actualCostMicros),
  };
}
