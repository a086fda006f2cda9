const ID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/i;

/** The request id in what somebody pasted, such as a line of a log or an error body; null when there is none. */
export function requestIdIn(pasted: string): string | null {
  return ID.exec(pasted)?.[0].toLowerCase() ?? null;
}
