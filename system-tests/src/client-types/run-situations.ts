import { type Play, readSse } from '@relay/provider-sim';
import type { Deployment } from '../harness/deployment.ts';
import type { Received } from './ai-sdk-reads.ts';
import { type Direction, directions, paths, requestOf, shapesOf, type Wire } from './directions.ts';
import type { OffValue, TypedValue } from './judge-types.ts';
import type { Situation } from './situations.ts';

const AT_ONCE = 12;

export interface Got extends Received {
  readonly from: string;
}

interface Asked {
  readonly direction: Direction;
  readonly situation: Situation;
  readonly number: number;
  readonly stream: boolean;
  readonly detail: boolean;
}

/** The provider finds the situation's number in the prompt. */
export function playOf(situations: readonly Situation[]): Play {
  return ({ path, stream }, body) => {
    const number = /\[\[(\d+)\]\]/.exec(body.toString('latin1'))?.[1];
    const situation = situations[Number(number)];
    return situation?.fault(wireAt(path), stream) ?? null;
  };
}

function wireAt(path: string): Wire {
  if (path.endsWith('/messages')) return 'messages';
  return path.endsWith('/responses') ? 'responses' : 'chat';
}

/** Asks for every situation in every direction, whole and streamed. */
export async function askAll(deployment: Deployment, situations: readonly Situation[]): Promise<Got[]> {
  const asked = directions.flatMap((direction) =>
    situations.flatMap((situation, number) =>
      [false, true]
        .filter((stream) => stream === (situation.stream ?? stream))
        .map((stream): Asked => ({ direction, situation, number, stream, detail: number % 2 === 0 })),
    ),
  );
  const got: Got[] = [];
  const queue = asked.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const each of queue) {
        const received = await ask(deployment, each);
        if (isJudged(each, received)) got.push(received);
      }
    }),
  );
  return got;
}

/** What a provider says wrongly passes through as it is; what Relay itself says instead is judged. */
function isJudged({ direction, situation }: Asked, { text }: Got): boolean {
  const passes = direction.client === direction.provider;
  return !(passes && situation.foreign === true) || text.includes('"request_id":"req_');
}

async function ask(
  { url, apiToken }: Deployment,
  { direction, situation, number, stream, detail }: Asked,
): Promise<Got> {
  const { client, provider } = direction;
  const response = await fetch(url + paths[client], {
    method: 'POST',
    headers: {
      authorization: `Bearer ${apiToken}`,
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
    },
    body: JSON.stringify(requestOf(direction, `Situation [[${number}]]`, stream, detail)),
  });
  return {
    from: `${client} at ${provider}, ${stream ? 'streamed' : 'whole'}: ${situation.name}`,
    client,
    stream,
    status: response.status,
    contentType: response.headers.get('content-type') ?? '',
    text: await response.text(),
  };
}

/** The values in what clients got; `broken` has what is not even JSON. */
export function valuesOf(got: readonly Got[]): {
  readonly typed: readonly TypedValue[];
  readonly broken: readonly OffValue[];
} {
  const typed: TypedValue[] = [];
  const broken: OffValue[] = [];
  for (const each of got) {
    const isStream = each.contentType.startsWith('text/event-stream');
    for (const text of isStream ? dataOf(each.text) : [each.text]) {
      const value = parsed(text);
      const shape = shapesOf[each.client][kindOf(each, isStream, value)];
      if (value === undefined)
        broken.push({ from: each.from, shape, why: 'not JSON', value: text.slice(0, 300) });
      else typed.push({ from: each.from, shape, value });
    }
  }
  return { typed, broken };
}

function dataOf(stream: string): readonly string[] {
  return readSse(stream).flatMap(({ data }) => (data === '[DONE]' ? [] : [data]));
}

/** Responses have their errors among the events; the others have a frame with another shape. */
function kindOf({ client, status }: Got, isStream: boolean, value: unknown): 'whole' | 'frame' | 'error' {
  if (!isStream) return status >= 400 ? 'error' : 'whole';
  const isError = client !== 'responses' && typeof value === 'object' && value !== null && 'error' in value;
  return isError ? 'error' : 'frame';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
