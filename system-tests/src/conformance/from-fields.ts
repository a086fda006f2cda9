import {
  type SpecField,
  type SpecResource,
  type SpecResourceName,
  type SpecType,
  specResources,
  specValuesOf,
} from '@relay/contract/specification';
import { routeOf, servedIn, success } from './calls.ts';
import { at, itemsOf } from './exchange.ts';
import { expect } from './expectation.ts';
import { everywhere, type Mode } from './mode.ts';
import { type Ids, objects } from './objects.ts';
import type { Statement } from './statement.ts';

// Section 2: every field of every table, with its type, wherever section 4.2 answers the resource.

interface Appearance {
  readonly resource: SpecResourceName;
  readonly line: string;
  /** The resource in the answer's body. */
  readonly pick: (body: unknown, ids: Ids) => unknown;
  /** Which fields the answer has, where it has not all of them. */
  readonly part?: (field: string) => boolean;
  readonly appliesIn?: (mode: Mode) => boolean;
}

const whole = (body: unknown) => body;
const listed = (key: keyof Ids, list?: string) => (body: unknown, ids: Ids) =>
  itemsOf(list === undefined ? body : at(body, list)).find((item) => item['id'] === ids[key]);
const isOfUser = (field: string) => field.startsWith('user.');

const appearances: readonly Appearance[] = [
  { resource: 'Account', line: 'GET /api/account', pick: whole },
  { resource: 'Account', line: 'PATCH /api/account', pick: whole, part: isOfUser },
  { resource: 'Account', line: 'PATCH /api/account/preferences', pick: whole, part: isOfUser },
  { resource: 'ApiKey', line: 'POST /api/account/api-keys', pick: (body) => at(body, 'key') },
  {
    resource: 'ApiKey',
    line: 'GET /api/account/api-keys',
    pick: listed('api_key_id', 'api_keys'),
    appliesIn: everywhere,
  },
  { resource: 'Provider', line: 'POST /api/relay/providers', pick: whole },
  { resource: 'Provider', line: 'GET /api/relay/providers', pick: (body) => itemsOf(body)[0] },
  { resource: 'Lane', line: 'POST /api/relay/routing-lanes', pick: whole },
  { resource: 'Lane', line: 'GET /api/relay/routing-lanes', pick: listed('group_id') },
  { resource: 'Lane', line: 'PUT /api/relay/routing-lanes/{group_id}', pick: whole },
  { resource: 'Membership', line: 'POST /api/relay/lane-memberships', pick: whole },
  { resource: 'Membership', line: 'GET /api/relay/lane-memberships', pick: listed('membership_id') },
  { resource: 'Membership', line: 'PUT /api/relay/lane-memberships/{membership_id}', pick: whole },
  { resource: 'Guardrail', line: 'POST /api/relay/guardrails', pick: whole },
  { resource: 'Guardrail', line: 'GET /api/relay/guardrails', pick: listed('guardrail_id') },
  {
    resource: 'Guardrail',
    line: 'GET /api/relay/guardrails/{guardrail_id}',
    pick: (body) => at(body, 'guardrail'),
  },
  { resource: 'LimitPolicy', line: 'POST /api/relay/limit-policies', pick: whole },
  { resource: 'LimitPolicy', line: 'GET /api/relay/limit-policies', pick: listed('policy_id') },
  { resource: 'LimitPolicy', line: 'PUT /api/relay/limit-policies/{policy_id}', pick: whole },
  {
    resource: 'UserLimitPolicy',
    line: 'GET /api/relay/pro/user-limit-policies',
    pick: listed('user_limit_uuid', 'policies'),
    appliesIn: everywhere,
  },
  {
    resource: 'ApiKeyLimitPolicy',
    line: 'GET /api/relay/api-key-limit-policies',
    pick: listed('key_limit_uuid', 'policies'),
    appliesIn: everywhere,
  },
  { resource: 'StatsSummary', line: 'GET /api/relay/stats/summary', pick: whole },
  { resource: 'BillingHistory', line: 'GET /api/billing/history', pick: whole },
];

export const fieldStatements: readonly Statement[] = appearances.flatMap((appearance) => {
  const resource = specResources[appearance.resource];
  const fields = Object.entries(resource.fields).filter(([name]) => appearance.part?.(name) ?? true);
  return fields.flatMap(([name, field]) => [
    typeStatement(appearance, resource, name, field),
    ...specValuesOf(field)
      .filter(() => appearance.line.startsWith('GET'))
      .map((value) => valueStatement(appearance, resource, name, { field, value })),
  ]);
});

function typeStatement(
  appearance: Appearance,
  resource: SpecResource,
  name: string,
  field: SpecField,
): Statement {
  return fieldStatement(appearance, resource, name, {
    field,
    says: `${resource.title}: ${name} is ${withArticle(field.type)}`,
    holds: (value) => isOfType(field.type, value),
    expected: `${name} to be ${withArticle(field.type)}`,
  });
}

function valueStatement(
  appearance: Appearance,
  resource: SpecResource,
  name: string,
  { field, value }: { readonly field: SpecField; readonly value: string },
): Statement {
  return fieldStatement(appearance, resource, name, {
    field,
    says: `${resource.title}: ${name} takes the value ${value}`,
    holds: (came) => came === value,
    expected: `${name} to be "${value}"`,
  });
}

interface FieldCheck {
  readonly field: SpecField;
  readonly says: string;
  readonly holds: (value: unknown) => boolean;
  readonly expected: string;
}

function fieldStatement(
  { line, pick, appliesIn }: Appearance,
  resource: SpecResource,
  name: string,
  { field, says, holds, expected }: FieldCheck,
): Statement {
  const route = routeOf(line);
  return {
    id: resource.section,
    says: `${says} (${line})`,
    quote: `| ${name} | ${field.type} | ${field.notes} |`,
    appliesIn: appliesIn ?? servedIn(route),
    async check(site) {
      const answer = await success(site, route);
      const { ids } = await objects(site, 'kept');
      const found = pick(answer.body, ids);
      expect(found !== undefined, `the resource in the answer`, answer);
      expect(holds(at(found, name)), expected, found);
    },
  };
}

/** RFC 3339. */
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

function isOfType(type: SpecType, value: unknown): boolean {
  switch (type) {
    case 'string':
      return typeof value === 'string';
    case 'string (URL)':
      return typeof value === 'string' && URL.canParse(value);
    case 'integer':
      return Number.isSafeInteger(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'array of string':
      return Array.isArray(value) && value.every((item) => typeof item === 'string');
    case 'timestamp or null':
      return value === null || (typeof value === 'string' && TIMESTAMP.test(value));
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
  }
}

function withArticle(type: SpecType): string {
  return /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`;
}
