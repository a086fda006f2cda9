import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TSchema } from 'typebox';
import { allRoutes } from './routes.ts';
import { propertiesOf, shapeOf } from './schema-shape.ts';

/** Amounts of money that are no sum over requests: prices, limits, estimates, and what one request or attempt cost. */
const NO_SUMS: readonly RegExp[] = [
  /\.(\w+_)?cost_micros_per_1m_tokens$/,
  /\.(flat_request_cost|price)_micros$/,
  /\.estimated_cost_micros$/,
  /^(RequestLogEntry|RequestDetail|RequestAttempt|CostLine|HardReservation)\.cost_(micros|usd)$/,
  /^SpendMonth\.(forecast|budget)_micros$/,
];

interface Found {
  readonly name: string;
  readonly field: string;
  readonly siblings: Readonly<Record<string, TSchema>>;
}

/** Every field in a response that is an amount of money. */
function* moneyIn(schema: TSchema, title = ''): Generator<Found> {
  const shape = shapeOf(schema);
  const own = shape.title ?? title;
  for (const [field, property] of Object.entries(propertiesOf(schema))) {
    if (/_(micros|usd)(_|$)/.test(field))
      yield { name: `${own}.${field}`, field, siblings: propertiesOf(schema) };
    yield* moneyIn(property, own);
  }
  for (const part of [shape.items, ...(shape.anyOf ?? [])]) if (part !== undefined) yield* moneyIn(part, own);
}

const found = allRoutes.flatMap(({ success }) =>
  success.schema === undefined ? [] : [...moneyIn(success.schema)],
);
const sums = found.filter(({ name }) => !NO_SUMS.some((pattern) => pattern.test(name)));

function isNullable(schema: TSchema | undefined): boolean {
  return shapeOf(schema ?? {}).anyOf?.some((part) => shapeOf(part).type === 'null') === true;
}

describe('a sum of what requests cost', () => {
  it('can be null, and says how many requests it leaves out', () => {
    assert.ok(sums.length > 30, `${sums.length} sums`);
    for (const { name, field, siblings } of sums) {
      assert.ok(isNullable(siblings[field]), `${name} cannot be null`);
      assert.ok('unpriced_requests' in siblings, `${name} has no unpriced_requests beside it`);
    }
  });

  it('is rounded and exact', () => {
    for (const { name, field, siblings } of sums) {
      // A point and a total of a series have the metric itself instead of micro-USD.
      if (/^Series/.test(name)) continue;
      const other = field.replace(/_(micros|usd)$/, (unit) => (unit === '_usd' ? '_micros' : '_usd'));
      assert.ok(isNullable(siblings[other]), `${name} has no ${other} beside it`);
    }
  });

  it('is told apart from other amounts by a list without a line too many', () => {
    for (const pattern of NO_SUMS)
      assert.ok(
        found.some(({ name }) => pattern.test(name)),
        String(pattern),
      );
  });
});
