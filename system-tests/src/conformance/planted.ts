import { type Answer, at } from './exchange.ts';
import { Deviation } from './expectation.ts';
import type { Made } from './objects.ts';
import { keyToLookAt } from './section-2.ts';
import type { Site } from './site.ts';
import type { Statement } from './statement.ts';

/** A deviation put into the answers of a deployment that has none, and the statement that must notice it. */
export interface Plant {
  readonly name: string;
  /** The beginning of the statement, `id says`. */
  readonly caughtBy: string;
  readonly alter: (answer: Answer, site: Site) => Promise<Answer> | Answer;
}

export const plants: readonly Plant[] = [
  {
    name: '200 instead of 201',
    caughtBy: '4.2 POST /api/relay/providers answers 201',
    alter: on('POST /api/relay/providers', (answer) => ({ ...answer, status: 200 })),
  },
  {
    name: 'a list in an envelope',
    caughtBy: '4.2 GET /api/relay/routing-lanes answers an array of Lane',
    alter: on('GET /api/relay/routing-lanes', (answer) => withBody(answer, { data: answer.body })),
  },
  {
    name: 'a body where none belongs',
    caughtBy: '4.2 DELETE /api/relay/routing-lanes/{group_id} answers without a body',
    alter: on('DELETE /api/relay/routing-lanes/', (answer) => withBody(answer, { deleted: true })),
  },
  {
    name: 'an integer as text',
    caughtBy: '2.4 Routing lane (group): default_max_wait_ms is an integer (POST',
    alter: on('POST /api/relay/routing-lanes', (answer) =>
      withBody(answer, { ...(answer.body as object), default_max_wait_ms: '1234' }),
    ),
  },
  {
    name: 'a field that is missing',
    caughtBy: '2.6 Guardrail: has_credential is a boolean (POST',
    alter: on('POST /api/relay/guardrails', (answer) =>
      withBody(answer, { ...(answer.body as object), has_credential: undefined }),
    ),
  },
  {
    name: 'a secret in a list',
    caughtBy: '2.2 the secret is never revealed by the list of keys',
    alter: async (answer, site) =>
      answer.line === 'GET /api/account/api-keys'
        ? { ...answer, text: answer.text + (await keyToLookAt(site)).secret }
        : answer,
  },
  {
    name: 'a header that is missing',
    caughtBy: '4.1 X-Relay-Wait-Ms is an integer on 200 of POST /chat/completions',
    alter: on('POST /v1/chat/completions', (answer) => withHeader(answer, 'x-relay-wait-ms', null)),
  },
  {
    name: 'a fraction in a header of integers',
    caughtBy: '4.1 X-Relay-Estimated-Cost-Micros is an integer on 200 of POST /embeddings',
    alter: on('POST /v1/embeddings', (answer) => withHeader(answer, 'x-relay-estimated-cost-micros', '0.5')),
  },
  {
    name: 'usage in the headers of a stream',
    caughtBy: '4.1 streaming X-Relay-Actual-Total-Tokens is not on POST /responses as a stream',
    alter: on('POST /v1/responses', (answer) => withHeader(answer, 'x-relay-actual-total-tokens', '7')),
  },
  {
    name: 'an open route',
    caughtBy: '5.1 GET /api/billing/history without Authorization answers 401',
    alter: on('GET /api/billing/history', (answer) => ({ ...answer, status: 200 })),
  },
  {
    name: '403 for what is not there',
    caughtBy: '7 404 GET /api/relay/guardrails/{guardrail_id} with an id that nothing has answers 404',
    alter: on('GET /api/relay/guardrails/', (answer) => ({ ...answer, status: 403 })),
  },
  {
    name: 'a refusal without retry_after',
    caughtBy: '7 rule 2 the error of POST /chat/completions has retry_after',
    alter: on('POST /v1/chat/completions', (answer) =>
      withBody(answer, { error: { ...(at(answer.body, 'error') as object), retry_after: undefined } }),
    ),
  },
  {
    name: 'a provider’s error in other words',
    caughtBy: '7 other its body passes through unchanged (422, POST /responses)',
    alter: on('POST /v1/responses', (answer) => withBody(answer, answer.body)),
  },
  {
    name: 'a prompt in the record of a request',
    caughtBy: '1.8 the record of a request does not hold the prompt',
    alter: on('GET /api/relay/requests/', (answer) => ({ ...answer, text: `${answer.text} Say hello.` })),
  },
];

function on(start: string, change: (answer: Answer) => Answer): Plant['alter'] {
  return (answer) => (answer.line.startsWith(start) ? change(answer) : answer);
}

function withBody(answer: Answer, body: unknown): Answer {
  const text = JSON.stringify(body);
  return { ...answer, body: JSON.parse(text) as unknown, text };
}

function withHeader(answer: Answer, name: string, value: string | null): Answer {
  const headers = new Headers(answer.headers);
  if (value === null) headers.delete(name);
  else headers.set(name, value);
  return { ...answer, headers };
}

/** The same deployment, with every answer altered: those that come, and those that were kept. */
function tampered(site: Site, alter: (answer: Answer) => Promise<Answer>): Site {
  return {
    ...site,
    call: async (method, path, sending) => alter(await site.call(method, path, sending)),
    async once<T>(name: string, work: () => Promise<T>): Promise<T> {
      const value = await site.once(name, work);
      if (isAnswer(value)) return (await alter(value)) as T;
      if (Array.isArray(value) && value.every(isAnswer)) return (await Promise.all(value.map(alter))) as T;
      return isMade(value) ? ((await alterMade(value, alter)) as T) : value;
    },
  };
}

async function alterMade(made: Made, alter: (answer: Answer) => Promise<Answer>): Promise<Made> {
  const answers = new Map<string, Answer>();
  for (const [line, answer] of made.answers) answers.set(line, await alter(answer));
  return { ...made, answers };
}

const isAnswer = (value: unknown): value is Answer =>
  typeof value === 'object' && value !== null && 'line' in value && 'text' in value;
const isMade = (value: unknown): value is Made =>
  typeof value === 'object' && value !== null && 'answers' in value;

/** Whether the statement holds on answers that are as they came, and notices the plant. */
export async function isCaught(site: Site, { check }: Statement, { alter }: Plant): Promise<boolean> {
  await check(tampered(site, (answer) => Promise.resolve(answer)));
  try {
    await check(tampered(site, async (answer) => alter(answer, site)));
    return false;
  } catch (error) {
    return error instanceof Deviation;
  }
}
