/** Null for what is not a count. One that is too large to be exact is a count all the same, and bounded later. */
export function tokenCount(value: unknown): number | null {
  if (typeof value !== 'number' || value < 0) return null;
  if (value > Number.MAX_SAFE_INTEGER) return Number.MAX_SAFE_INTEGER;
  return Number.isInteger(value) ? value : null;
}
