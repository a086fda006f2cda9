import assert from 'node:assert/strict';
import { limitMetrics } from '@relay/contract';
import { guardrail } from '../domain/guardrails/guardrail.fixture.ts';
import type { Guardrail } from '../domain/guardrails/guardrail.ts';
import { endpoint, lane, member, provider, snapshot } from '../domain/snapshot.fixture.ts';
import type { LimitPolicy, OrganizationSnapshot } from '../domain/snapshot.ts';
import {
  type Answered,
  type Gateway,
  type Listening,
  startGateway,
  startListening,
} from './gateway.fixture.ts';

export const SAID = {
  id: 'c',
  choices: [{ index: 0, message: { role: 'assistant', content: 'answer-canary' } }],
};
const USAGE = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };
export const CHAT = { model: 'fast', messages: [{ role: 'user', content: 'question-canary' }] };
export const CONCURRENCY = limit('concurrency', 'concurrency', 'none', 1);
export const LIMITS = [
  CONCURRENCY,
  limit('requests', 'requests', 'minute', 100),
  limit('tokens', 'tokens', 'minute', 90_000),
];

export function limit(
  id: string,
  metric: LimitPolicy['metric'],
  period: LimitPolicy['period'],
  limitValue: number,
): LimitPolicy {
  return { id, scopeType: 'global', scopeId: null, metric, period, limitValue, enabled: true };
}

type Json = Record<string, unknown>;

/** For tests: a gateway between a provider that answers `SAID` and a guardrail that allows everything. */
export interface GuardedSite {
  readonly upstream: Listening;
  readonly judge: Listening;
  readonly gateway: Gateway;
  /** A lane `fast` over the endpoints a and b, of the providers pa and pb. */
  organize(guardrails: readonly Guardrail[], limitPolicies?: readonly LimitPolicy[]): OrganizationSnapshot;
  /** A guardrail at the judge's address, asked before dispatch or about the answer. */
  before(id: string, over?: Partial<Guardrail>): Guardrail;
  after(id: string, over?: Partial<Guardrail>): Guardrail;
  answerTo(body: object | string, path?: string): Promise<Answered & { readonly json: Json }>;
  /** The guardrail does not answer until the test says so. */
  holdJudge(): { readonly asked: Promise<void>; say(verdict: string): void };
  /** Nothing is reserved, and requests that were not dispatched used nothing. */
  nothingIsHeld(): Promise<void>;
  close(): Promise<void>;
}

export async function startGuardedSite(): Promise<GuardedSite> {
  const upstream = await startListening();
  upstream.answer = (response) => response.end(JSON.stringify({ ...SAID, usage: USAGE }));
  const judge = await startListening();
  judge.answer = (response) => response.end('{"verdict":"allow"}');

  function organize(guardrails: readonly Guardrail[], limitPolicies: readonly LimitPolicy[] = []) {
    const names = ['a', 'b'];
    return snapshot({
      providers: names.map((id) =>
        provider(`p${id}`, { baseUrl: `${upstream.url}/${id}`, authMode: 'none' }),
      ),
      endpoints: names.map((id) => endpoint(id, `p${id}`, `m-${id}`, { pacing: false })),
      lanes: [lane('fast', { defaultMaxWaitMs: 2_000 })],
      memberships: names.map((id, index) => member('fast', id, index)),
      limitPolicies: [...limitPolicies],
      guardrails: [...guardrails],
    });
  }

  const gateway = await startGateway(organize([]));
  const before: GuardedSite['before'] = (id, over = {}) =>
    guardrail(id, { baseUrl: `${judge.url}/${id}`, ...over });
  return {
    upstream,
    judge,
    gateway,
    organize,
    before,
    after: (id, over = {}) => before(id, { preDispatch: false, postResponse: true, ...over }),
    async answerTo(body, path) {
      const answered = await gateway.send(body, path).answered;
      assert.ok(answered);
      return { ...answered, json: JSON.parse(answered.text) as Json };
    },
    holdJudge() {
      let release: (verdict: string) => void = () => undefined;
      const asked = new Promise<void>((resolve) => {
        judge.answer = (response) => {
          release = (verdict) => void response.end(JSON.stringify({ verdict }));
          resolve();
        };
      });
      return { asked, say: (verdict) => release(verdict) };
    },
    async nothingIsHeld() {
      assert.deepEqual(gateway.desk.counts(), { waiting: 0, dispatched: 0 });
      for (const metric of limitMetrics) assert.equal(await gateway.usage(metric, metric), 0, metric);
    },
    async close() {
      await gateway.close();
      await upstream.close();
      await judge.close();
      for (const record of gateway.records)
        assert.ok(!JSON.stringify(record).includes('canary'), 'a word of the request is in its record');
    },
  };
}

export function errorOf({ json }: { readonly json: Json }): Json {
  return json['error'] as Json;
}
