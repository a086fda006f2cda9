import type { Random } from '../chaos/random.ts';
import { resolved, type Schema } from './document.ts';
import { NASTY_TEXTS } from './mutate.ts';

/** Values that lead somewhere, by the name of the field: an id of an object that exists, an address that answers. */
export type Hints = Readonly<Record<string, readonly unknown[]>>;

const DEPTH_MAX = 8;

/** A value that the schema allows, mostly: patterns are met where a hint or a plain word meets them. */
export function valueFor(schema: Schema, random: Random, hints: Hints, name = '', depth = 0): unknown {
  const found = resolved(schema);
  const known = Object.hasOwn(hints, name) ? hints[name] : undefined;
  if (known !== undefined && known.length > 0 && random.chance(0.8)) return random.pick(known);
  if (Array.isArray(found['anyOf'])) {
    return valueFor(random.pick(found['anyOf'] as Schema[]), random, hints, name, depth + 1);
  }
  if (Array.isArray(found['enum'])) return random.pick(found['enum'] as unknown[]);
  if ('const' in found) return found['const'];
  switch (found['type']) {
    case 'object':
      return objectOf(found, random, hints, depth);
    case 'array':
      return arrayOf(found, random, hints, name, depth);
    case 'string':
      return stringOf(found, random);
    case 'integer':
    case 'number':
      return numberOf(found, random);
    case 'boolean':
      return random.chance(0.5);
    default:
      return null;
  }
}

function objectOf(schema: Schema, random: Random, hints: Hints, depth: number): Record<string, unknown> {
  const required = (schema['required'] ?? []) as readonly string[];
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>);
  const used = properties.filter(
    ([name]) => required.includes(name) || (depth < DEPTH_MAX && random.chance(0.4)),
  );
  return Object.fromEntries(
    used.map(([name, each]) => [name, valueFor(each, random, hints, name, depth + 1)]),
  );
}

function arrayOf(schema: Schema, random: Random, hints: Hints, name: string, depth: number): unknown[] {
  const min = Number(schema['minItems'] ?? 0);
  const length = depth >= DEPTH_MAX ? min : random.between(min, min + 3);
  const items = (schema['items'] ?? {}) as Schema;
  return Array.from({ length }, () => valueFor(items, random, hints, name.replace(/s$/, ''), depth + 1));
}

function stringOf(schema: Schema, random: Random): string {
  if (schema['format'] === 'date-time')
    return new Date(Date.UTC(2026, random.between(0, 24), random.between(1, 28))).toISOString();
  if (schema['format'] === 'email') return `person-${random.between(0, 1e9)}@example.com`;
  const { min, max } = { min: Number(schema['minLength'] ?? 0), max: Number(schema['maxLength'] ?? 200) };
  const pattern = new RegExp(typeof schema['pattern'] === 'string' ? schema['pattern'] : '', 'u');
  const words = [
    `name ${random.between(0, 1e6)}`,
    `slug-${random.between(0, 1e6)}`,
    ...['a', 'https://api.example.com/v1', '/path', 'X-Header', random.pick(NASTY_TEXTS)],
    'z'.repeat(Math.min(random.chance(0.5) ? max : min, 3_000)),
  ];
  const fitting = words.filter((word) => word.length >= min && word.length <= max && pattern.test(word));
  return fitting.length === 0 ? 'a' : random.pick(fitting);
}

function numberOf(schema: Schema, random: Random): number {
  const min = Number(schema['minimum'] ?? 0);
  const max = Number(schema['maximum'] ?? Number.MAX_SAFE_INTEGER);
  return random.pick([min, max, Math.min(max, min + 1), Math.min(max, min + random.between(0, 10_000))]);
}
