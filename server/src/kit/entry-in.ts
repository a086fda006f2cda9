/** The value of the key; created and kept if there is none. */
export function entryIn<K, V>(map: Map<K, V>, key: K, create: (key: K) => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const created = create(key);
  map.set(key, created);
  return created;
}
