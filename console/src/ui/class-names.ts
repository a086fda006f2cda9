/** Joins the classes that apply; what is false, null or undefined does not. */
export function classes(...parts: readonly (string | false | null | undefined)[]): string {
  return parts.filter(Boolean).join(' ');
}
