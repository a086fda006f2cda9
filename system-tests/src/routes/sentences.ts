import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type SpecRuleId, specRuleIds } from '@relay/contract/specification';

// Every sentence of the specification beside its tables of routes and fields, which `contract/src/spec-conformance.test.ts` compares with the
// contract, and the contract with every answer.

const ROOT = join(import.meta.dirname, '../../..');
const rules = 'system-tests/src/routes/rules';
const operations = [`${rules}/operations.ts`, 'checkOperations'] as const;
const keys = (check: string) => [`${rules}/keys.ts`, check] as const;
const limits = (check: string) => [`${rules}/limits.ts`, check] as const;
const situation = (name: string) => [`${rules}/situations.ts`, name] as const;
const table = (column: string) => ['system-tests/src/routes/access/columns.ts', column] as const;
const doors = (check: string) => [`${rules}/doors.ts`, check] as const;
const walk = (file: string, text: string) => [`system-tests/src/routes/${file}`, text] as const;
/** It leaves something open, allows something or denies a promise, and requires nothing. */
const NOTHING = null;

/** Where each sentence is checked: a file, and a text in it. */
const checkedBy: Readonly<Record<SpecRuleId, readonly [file: string, text: string] | typeof NOTHING>> = {
  '1.1': operations,
  '1.2': operations,
  '1.3': situation('serves from its second endpoint'),
  '1.4': ['system-tests/src/fault-matrix/expectation.ts', "kind: 'interrupted'"],
  '1.5': situation('guarded embeddings'),
  '1.6': doors('checkPaths'),
  '1.7': doors('checkDirectInference'),
  '1.8': operations,
  '1.9': table('tokenColumns'),
  '2': keys('revoked_at'),
  '2.2': walk('repeats.ts', 'What a create shows once'),
  '2.6': walk('sent-back.ts', "'updateGuardrail'"),
  '2.12 chat completion': situation("bad('messages'"),
  '2.12 response': situation('bad(contentOf(path)'),
  '2.12 embeddings': situation('bad(contentOf(path)'),
  '2.12': situation('an upstream model of one provider'),
  '2.13': ['system-tests/src/manners/clients/models.ts', 'the model list names every upstream model'],
  '3 revoke': keys('checkRevocation'),
  '3 rename': keys('changes more than its name'),
  '3 enabled': walk('echoes.ts', 'A guardrail is disabled when it is created'),
  '3': ['system-tests/src/numbers/numbers.suite.ts', "count('cancelled')"],
  '4': walk('walk.ts', 'The API as plain `fetch` sees it'),
  '4.1': situation('half a body'),
  '4.1 streaming': operations,
  '4.2': walk('repeats.ts', 'the list grows by one'),
  '4.2 rule 1': walk('walk-limits.ts', 'A create gives no id away'),
  '4.2 rule 2': walk('walk-limits.ts', 'limit_value: 2_000'),
  '4.2 rule 3': walk('walk-limits.ts', 'limit_value: 2_000'),
  '4.2 rule 4': walk('bad-bodies.ts', 'rly_0123456789_abc'),
  '4.2 rule 5': keys('a limit went to another key'),
  '4.2 rule 6': NOTHING,
  '5.1': table("keyColumn('another scheme'"),
  '5.2': keys('checkIntersection'),
  '5.3': table('only scope number'),
  '5.4': keys('changes more than its name'),
  '5.5': walk('access/expected.ts', 'Team delegation'),
  '5.6': keys('checkVisibility'),
  '5.7': walk('walk-session.ts', 'refuseKeys'),
  '5.8': keys('cloud:security:manage'),
  '5.9': keys('the record of a request names another key'),
  '5.10': NOTHING,
  '6': NOTHING,
  '7 400': situation('guarded stream'),
  '7 401': table("keyColumn('expired key'"),
  '7 403': table('byPlan'),
  '7 404': walk('unknown-ids.ts', 'askForUnknown'),
  '7 413': situation('one byte too many'),
  '7 429': situation('the request after it'),
  '7 502': situation('a provider without a usable credential'),
  '7 503': walk('health.ts', 'without the store of limits'),
  '7 other': situation('passes, bytes and all'),
  '7 rule 1': situation("'retry-after': String(THROTTLE_SECONDS)"),
  '7 rule 2': [`${rules}/check-situation.ts`, 'retry_after'],
  '7 rule 3': NOTHING,
  '7 rule 4': NOTHING,
  '8.1': limits('below the member’s'),
  '8.2': situation('the request after it'),
  '8.3': limits('expectSpread'),
  '8.4': [`${rules}/values.ts`, 'windows'],
  '8.5': limits('checkMemberLimits'),
  '8.6': walk('served.ts', 'Resource limit policies are for self-hosted'),
  '8.7': table('every scope but number'),
  '8.8': NOTHING,
  '9.1': doors('checkPaths'),
  '9.2': doors('the description is at version'),
  '9.3': doors('at another server'),
  '9.4': NOTHING,
};

/** Sentences whose check is not where the table says. */
export function sentencesMissed(): string[] {
  return specRuleIds.filter((id) => {
    const [file, text] = checkedBy[id] ?? [];
    return file !== undefined && !readFileSync(join(ROOT, file), 'utf8').includes(text ?? '');
  });
}
