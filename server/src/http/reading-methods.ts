const READING: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD']);

/** Methods that change nothing. HEAD is answered like GET, and Node leaves the body out. */
export function isReading(method: string | undefined): boolean {
  return READING.has(method);
}
