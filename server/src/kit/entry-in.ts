/** A Map, or a WeakMap. */
interface Entries<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): unknown;
}

/** The value of the key; created and kept if there is none. */
export function entryIn<K, V>(map: Entries<K, V>, key: K, create: (key: K) => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const created = create(key);
  map.set(key, created);
  return created;
}
