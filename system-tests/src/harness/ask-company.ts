import { headers, type LimitMetric } from '@relay/contract';
import type { Company } from './company.ts';

/** Budgets count over a period, which concurrency does not. */
export type Metric = Exclude<LimitMetric, 'concurrency'>;

/** What every request asks for, and gets: so that what is estimated is nearly what is used. */
const OUTPUT_TOKENS = 200;

export interface Ask {
  readonly key: string;
  /** A lane, or a model past the lanes. */
  readonly model: string;
  /** Which process gets it. An embedded deployment has one. */
  readonly process: number;
  /** Told to the provider, whose log is the judge. */
  readonly tag: string;
  readonly delayMs?: number;
}

export interface Answer {
  readonly ask: Ask;
  readonly status: number;
  readonly headers: Headers;
  readonly error: AnswerError | null;
}

export interface AnswerError {
  readonly code: string;
  readonly message: string;
  readonly policy?: Readonly<Record<string, unknown>> | null;
}

export async function ask({ deployment }: Company, asked: Ask): Promise<Answer> {
  const { key, model, tag, delayMs = 0 } = asked;
  const { processes } = deployment;
  const response = await fetch(`${processes[asked.process % processes.length]?.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model,
      max_tokens: OUTPUT_TOKENS,
      messages: [{ role: 'user', content: 'Count.' }],
      sim: { tag, outputTokens: OUTPUT_TOKENS, delayMs },
    }),
  });
  const body = (await response.json()) as { error?: AnswerError };
  return { ask: asked, status: response.status, headers: response.headers, error: body.error ?? null };
}

/** What one request is taken to cost, and what it cost, in each metric. */
export interface Costs {
  readonly estimated: Readonly<Record<Metric, number>>;
  readonly actual: Readonly<Record<Metric, number>>;
}

/** All requests of this suite are alike, so one tells of all. */
export async function readCosts(company: Company, key: string, model: string): Promise<Costs> {
  const answer = await ask(company, { key, model, process: 0, tag: 'probe' });
  const header = (name: keyof typeof headers) => Number(answer.headers.get(headers[name]));
  return {
    estimated: {
      requests: 1,
      tokens: header('estimatedInputTokens') + header('estimatedOutputTokens'),
      spend: header('estimatedCostMicros'),
    },
    actual: { requests: 1, tokens: header('actualTotalTokens'), spend: header('actualCostMicros') },
  };
}

/** How many requests with this tag reached the provider. */
export function dispatched({ deployment }: Company, tag: string): number {
  return deployment.provider.log.filter(({ fault }) => fault?.tag === tag).length;
}
