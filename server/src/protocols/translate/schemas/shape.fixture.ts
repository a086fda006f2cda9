import { isObject } from '../../../kit/json-value.ts';

/** What is wrong with a value, each with its path; empty when nothing is. Knows nothing of translations. */
export type Shape = (value: unknown, path: string) => readonly string[];

/** A rule that has no simpler shape. */
export function where(description: string, holds: (value: unknown) => boolean): Shape {
  return (value, path) => (holds(value) ? [] : [`${path}: ${JSON.stringify(value)} is not ${description}`]);
}

export const text: Shape = (value, path) => (typeof value === 'string' ? [] : [`${path}: not a string`]);
export const flag: Shape = (value, path) => (typeof value === 'boolean' ? [] : [`${path}: not a boolean`]);
export const anyObject: Shape = (value, path) => (isObject(value) ? [] : [`${path}: not an object`]);

export function matching(pattern: RegExp): Shape {
  return where(`like ${pattern}`, (value) => typeof value === 'string' && pattern.test(value));
}

export function number(min: number, max: number): Shape {
  return where(
    `between ${min} and ${max}`,
    (value) => typeof value === 'number' && value >= min && value <= max,
  );
}

export function integer(min: number): Shape {
  return where(`a whole number from ${min}`, (value) => Number.isSafeInteger(value) && Number(value) >= min);
}

export function oneOf(...values: readonly unknown[]): Shape {
  return where('known', (value) => values.includes(value));
}

export function list(of: Shape, lengthMin = 0, lengthMax = Number.POSITIVE_INFINITY): Shape {
  return (value, path) => {
    if (!Array.isArray(value)) return [`${path}: not a list`];
    const { length } = value;
    const wrong = length < lengthMin || length > lengthMax ? [`${path}: has ${length} items`] : [];
    return [...wrong, ...value.flatMap((item: unknown, index) => of(item, `${path}[${index}]`))];
  };
}

/** All members of `required`, perhaps some of `optional`, and no others. */
export function strict(
  required: Readonly<Record<string, Shape>>,
  optional: Readonly<Record<string, Shape>> = {},
): Shape {
  return (value, path) => {
    if (!isObject(value)) return [`${path}: not an object`];
    const missing = Object.keys(required).filter((name) => value[name] === undefined);
    const found = Object.entries(value).flatMap(([name, member]) => {
      const known = Object.hasOwn(required, name) ? required : optional;
      const shape = Object.hasOwn(known, name) ? known[name] : undefined;
      return shape === undefined ? [`${path}.${name}: not known`] : shape(member, `${path}.${name}`);
    });
    return [...missing.map((name) => `${path}.${name}: missing`), ...found];
  };
}

/** The shape for the value of `type` (or another member). */
export function byMember(member: string, shapes: Readonly<Record<string, Shape>>): Shape {
  return (value, path) => {
    const shape = isObject(value) ? shapes[String(value[member])] : undefined;
    return shape === undefined ? [`${path}.${member}: not known`] : shape(value, path);
  };
}

export function either(...shapes: readonly Shape[]): Shape {
  return (value, path) => {
    const all = shapes.map((shape) => shape(value, path));
    return all.some((problems) => problems.length === 0)
      ? []
      : (all.toSorted((a, b) => a.length - b.length)[0] ?? []);
  };
}
