import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allRoutes, errorCodes } from '@relay/contract';
import { blamesLimit, codesThatBlame } from './blame.ts';
import { type Involved, reached } from './failure-words.ts';
import { remedies, remedyOf } from './remedies.ts';

const NOBODY: Involved = {
  provider: null,
  endpoint: null,
  lane: null,
  guardrail: null,
  model: null,
  limit: null,
};

describe('the remedies of failures', () => {
  it('every error code has an action, or says why it has none', () => {
    for (const code of errorCodes) {
      const { actions, none } = remedies[code];
      if (actions.length === 0) assert.match(none, /^[A-Z].{20,}\.$/, code);
    }
    assert.equal(Object.keys(remedies).length, errorCodes.length);
  });

  it('every code that dispatching can end with says what happened, also when nothing is known of it', () => {
    const dispatching = allRoutes.find(({ id }) => id === 'createChatCompletion');
    const logged = dispatching?.errors.filter((code) => !/ before | management /.test(remedies[code].none));
    assert.ok((logged?.length ?? 0) > 20);
    for (const code of [
      ...(logged ?? []),
      'upstream_status_500',
      'upstream_status_429',
      'upstream_status_400',
      'upstream_error_frame',
      'gateway_lost',
      'of_a_later_version',
    ]) {
      const { says } = remedyOf(code);
      assert.match(says(NOBODY), /^[A-Z].*[\w)]\.$/, code);
      assert.doesNotMatch(says(NOBODY), /null|undefined/, code);
    }
  });

  it('a provider that is at its rate limit is relieved by another candidate, an invalid request by nothing', () => {
    assert.deepEqual(remedyOf('upstream_status_429').actions, ['add_candidate', 'test_provider']);
    assert.deepEqual(remedyOf('upstream_status_400').actions, []);
    assert.deepEqual(remedyOf('upstream_status_503').actions, ['test_provider', 'add_candidate']);
  });

  it('only codes of limits are told apart by limit', () => {
    assert.deepEqual(codesThatBlame('limit').toSorted(), [
      'budget_exhausted',
      'rate_limit_wait_budget_exceeded',
      'request_exceeds_limit',
    ]);
    assert.equal(blamesLimit('upstream_status_429'), false);
  });

  it('a limit is named by what it limits and by its value, as far as they are known', () => {
    const limit = { scopeType: 'global', metric: 'spend', period: 'day' } as const;
    assert.equal(
      reached({ ...limit, kind: 'api_key', subjectName: 'App', limitValue: 15_000_000 }),
      'Key "App" reached its limit of $15.00 per day',
    );
    assert.equal(
      reached({ ...limit, kind: 'resource', subjectName: null, limitValue: null }),
      'The organization reached its limit on spend per day',
    );
    assert.equal(
      reached({ ...limit, scopeType: 'endpoint', kind: 'resource', subjectName: null, limitValue: 1 }),
      'An endpoint reached its limit of $0.000001 per day',
    );
  });
});
