/** Joins class names and skips false, null and undefined. */
export function classes(...parts: readonly (string | false | null | undefined)[]): string {
  return parts.filter(Boolean).join(' ');
}
