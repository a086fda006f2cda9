/**
 * How what a provider wants back unchanged travels through a Responses client: in `encrypted_content` of a reasoning item, which
 * clients return as they got it. Content that another provider encrypted has no such prefix.
 */
const SIGNATURE = 'relay-thinking-1:';
const REDACTED = 'relay-redacted-1:';

export type SealedThinking =
  | { readonly kind: 'thinking'; readonly signature: string }
  | { readonly kind: 'redacted_thinking'; readonly data: string };

export function sealThinking(thinking: SealedThinking): string {
  return thinking.kind === 'thinking' ? SIGNATURE + thinking.signature : REDACTED + thinking.data;
}

export function unsealThinking(content: unknown): SealedThinking | null {
  if (typeof content !== 'string') return null;
  if (content.startsWith(SIGNATURE)) return { kind: 'thinking', signature: content.slice(SIGNATURE.length) };
  if (content.startsWith(REDACTED))
    return { kind: 'redacted_thinking', data: content.slice(REDACTED.length) };
  return null;
}

/** Whether a request may hold sealed thinking, without parsing it. */
export function mayHoldSealed(bytes: Buffer): boolean {
  return bytes.includes(SIGNATURE) || bytes.includes(REDACTED);
}
