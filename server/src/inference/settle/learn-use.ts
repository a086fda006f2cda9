import type { Exchange, RoutedRequest } from '../exchange.ts';
import type { Ending } from './settle.ts';
import type { TypicalUse } from './typical-use.ts';

/**
 * What the next estimates under this name learn from the request. A limit on the output says how little a client wanted, not what
 * is typical, and an answer that was cut off had at least what was streamed: both can only raise it.
 */
export function learnUse(
  { typicalUse }: { readonly typicalUse: TypicalUse },
  { caller: { organizationId }, protocol, reservation }: Exchange,
  { body, estimate }: RoutedRequest,
  name: string,
  { usage, usageInPart, streamedTokens }: Ending,
): void {
  const reported = usageInPart === undefined ? usage : null;
  if (protocol.hasOutput) {
    const { cap, choices } = protocol.request.output(body);
    const written = Math.ceil((reported?.outputTokens ?? streamedTokens) / choices);
    const isCut = written >= (reservation?.writtenCap ?? Number.POSITIVE_INFINITY);
    const mayLower = reported !== null && cap === null && !isCut;
    typicalUse.learn(organizationId, name, 'outputTokens', written, mayLower);
  }
  if (reported === null || estimate.guessedInputTokens === undefined) return;
  const seenTokens = estimate.inputTokens - estimate.guessedInputTokens;
  const unseenTokens = reported.inputTokens - seenTokens;
  typicalUse.learn(organizationId, name, 'unseenInputTokens', unseenTokens, true);
}
