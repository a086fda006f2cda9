/** Shown instead of an unknown name. The end of an ID is more distinctive than its start. */
export function shortId(id: string): string {
  return `…${id.slice(-8)}`;
}
