/** The keys of a table with their type, which `Object.keys` loses. */
export function keysOf<Key extends string>(table: Readonly<Record<Key, unknown>>): readonly Key[] {
  return Object.keys(table) as Key[];
}

/** The value as a member of a closed list; undefined when it is none. */
export function oneOf<Value>(values: readonly Value[], value: unknown): Value | undefined {
  return values.find((each) => each === value);
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
