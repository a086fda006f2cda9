/** What the model says in one turn, in the names of the client's tools. */
export interface PlayedTurn {
  readonly number: number;
  readonly thought: string | null;
  readonly text: string | null;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: object }[];
}

/** Tokens that every played turn reports. */
export const PLAYED_USAGE = { input: 1_000, cacheRead: 600, cacheWritten: 100, output: 50 } as const;

/** Pieces of a few characters, never half of one. */
export function piecesOf(text: string, length = 5): string[] {
  return text.match(new RegExp(`.{1,${length}}`, 'gsu')) ?? [];
}

export function signatureOf(number: number): string {
  return Buffer.from(`signature of step ${number}`).toString('base64');
}

export function eventFrame(event: Readonly<Record<string, unknown>> & { readonly type: string }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
