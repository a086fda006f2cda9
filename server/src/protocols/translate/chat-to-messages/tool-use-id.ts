/**
 * Messages take letters, digits, `_` and `-` in the id of a call. Compatible providers write others too, and a conversation that
 * one of them began has to be understood by the next.
 */
export function toolUseId(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/gu, (character) => `_${character.codePointAt(0)?.toString(16) ?? ''}`);
}
