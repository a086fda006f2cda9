/** Negative: a comes before b. 0 only for the same item. */
export type Compare<T> = (a: T, b: T) => number;

export function insert<T>(list: T[], item: T, compare: Compare<T>): void {
  list.splice(indexIn(list, item, compare), 0, item);
}

/** The item's place must not have changed since it was inserted. */
export function remove<T>(list: T[], item: T, compare: Compare<T>): void {
  const at = indexIn(list, item, compare);
  if (list[at] === item) list.splice(at, 1);
}

/** Where the item is, or would be. */
function indexIn<T>(list: readonly T[], item: T, compare: Compare<T>): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compare(list[middle] as T, item) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
