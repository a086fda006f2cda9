/** The name as the least careful intermediary may read it: ignoring case, and with `_` for `-`. */
export function plainName(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}

/** Whether only the deployment itself may set this header, in any spelling. */
export function isOurs(name: string): boolean {
  return plainName(name).startsWith('x-relay-');
}
