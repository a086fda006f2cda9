/** The name as the least careful reader on the way may take it: without case, and with `_` for `-`. */
export function plainName(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}

/** Whether a header is one that only the deployment itself sets, in whatever spelling. */
export function isOurs(name: string): boolean {
  return plainName(name).startsWith('x-relay-');
}
