import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Answer } from './answer.ts';
import { echoFaults } from './echoes.ts';
import { routeOf } from './route-of.ts';
import { createSecrets } from './secrets.ts';
import { nobody } from './world.ts';

// The judges find what no deployment does: each planted deviation is one of these answers.

const SECRET = 'rly_0123456789_secret';

function answered(line: string, sent: unknown, body: unknown, headers: Record<string, string> = {}): Answer {
  return {
    ...{ line, route: routeOf(line), caller: nobody, status: 201, summary: '201' },
    ...{ headers: new Headers(headers), sent, body, text: JSON.stringify(body), requestId: 'x' },
  };
}

const lane = { name: 'A', default_max_wait_ms: 1_234, allow_fallback: false };

describe('the judge of what was written', () => {
  const faultsOf = (line: string, sent: object, body: object) => echoFaults([answered(line, sent, body)]);

  it('finds a field that shows another value than was sent', () => {
    const [fault] = faultsOf('POST /api/relay/routing-lanes', lane, { ...lane, default_max_wait_ms: 1_000 });
    assert.match(fault ?? '', /shows default_max_wait_ms as 1000; 1234 was sent/);
    const [wrapped] = faultsOf('PATCH /api/account', { name: 'Ada' }, { user: { name: 'Eve' } });
    assert.match(wrapped ?? '', /shows name as Eve/);
  });

  it('accepts what was sent, health that changes by itself, and a new guardrail that is disabled', () => {
    assert.deepEqual(faultsOf('POST /api/relay/routing-lanes', lane, { ...lane, id: '1' }), []);
    assert.deepEqual(faultsOf('PUT /api/relay/endpoints/1', { health: 'down' }, { health: 'healthy' }), []);
    assert.deepEqual(faultsOf('POST /api/relay/guardrails', { enabled: true }, { enabled: false }), []);
  });
});

describe('the judge of secrets', () => {
  const shown = answered('POST /api/account/api-keys', {}, { api_key: SECRET });
  const leaksIn = (answers: readonly Answer[], logs: readonly unknown[] = []) => {
    const secrets = createSecrets();
    secrets.shownBy(shown, 'a key', SECRET);
    return secrets.leaksIn(answers, logs);
  };

  it('accepts the answer that shows a secret, once', () => assert.deepEqual(leaksIn([shown]), []));

  it('finds a secret in another answer, in a header and in a log', () => {
    const listed = answered('GET /api/account/api-keys', undefined, { api_keys: [{ name: SECRET }] });
    const headed = answered('GET /v1/models', undefined, {}, { 'x-relay-note': SECRET });
    assert.equal(leaksIn([shown, listed, headed], [{ msg: SECRET }]).length, 3);
  });
});
