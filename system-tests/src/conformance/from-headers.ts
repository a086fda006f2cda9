import {
  NON_STREAMING_ONLY,
  specHeaders,
  specInferenceRoutes,
  specRules,
  specStreamingPaths,
} from '@relay/contract/specification';
import { inferenceBodies } from './calls.ts';
import type { Answer } from './exchange.ts';
import { expect, expectStatus } from './expectation.ts';
import { everywhere } from './mode.ts';
import type { Site } from './site.ts';
import type { Statement } from './statement.ts';

// Section 4.1: every response header, on each of the three operations, whole and streamed.

interface Operation {
  readonly path: string;
  readonly streaming: boolean;
}

const posts = specInferenceRoutes.filter(({ method }) => method === 'POST').map(({ path }) => path);
export const operations: readonly Operation[] = [
  ...posts.map((path) => ({ path, streaming: false })),
  ...specStreamingPaths.map((path) => ({ path, streaming: true })),
];

export const nameOf = ({ path, streaming }: Operation): string =>
  `POST ${path}${streaming ? ' as a stream' : ''}`;

/** One answer of the operation, on the lane with prices. */
export function answerOf(site: Site, { path, streaming }: Operation): Promise<Answer> {
  return site.once(`answer of ${nameOf({ path, streaming })}`, () =>
    site.call('POST', `/v1${path}`, {
      body: { model: 'plain', ...inferenceBodies[path], ...(streaming ? { stream: true } : {}) },
    }),
  );
}

const present = operations.flatMap((operation) =>
  Object.entries(specHeaders)
    .filter(([, { meaning }]) => !(operation.streaming && meaning === NON_STREAMING_ONLY))
    .map(
      ([name, { type, meaning }]): Statement => ({
        id: '4.1',
        says: `${name} is ${type === 'integer' ? 'an integer' : 'a string'} on 200 of ${nameOf(operation)}`,
        quote: `| ${name} | ${type} | ${meaning} |`,
        appliesIn: everywhere,
        async check(site) {
          const answer = await answerOf(site, operation);
          expectStatus(answer, 200);
          const value = answer.headers.get(name);
          const fits = type === 'integer' ? /^\d+$/ : /\S/;
          expect(value !== null && fits.test(value), `${name} with ${type} text`, value);
        },
      }),
    ),
);

const absent = operations
  .filter(({ streaming }) => streaming)
  .flatMap((operation) =>
    Object.entries(specHeaders)
      .filter(([, { meaning }]) => meaning === NON_STREAMING_ONLY)
      .map(
        ([name]): Statement => ({
          id: '4.1 streaming',
          says: `${name} is not on ${nameOf(operation)}`,
          quote: specRules['4.1 streaming'],
          appliesIn: everywhere,
          async check(site) {
            const answer = await answerOf(site, operation);
            expect(answer.headers.get(name) === null, `no ${name}`, answer.headers.get(name));
          },
        }),
      ),
  );

export const headerStatements: readonly Statement[] = [...present, ...absent];
