import type { Exchange, RoutedRequest } from '../exchange.ts';
import type { TypicalUse } from './typical-use.ts';

/**
 * What the next estimates under this name learn from the request. A limit on the output says how little a client wanted, not what
 * is typical, and an answer that was cut off had at least what was streamed: both can only raise it.
 */
export function learnUse(
  { typicalUse }: { readonly typicalUse: TypicalUse },
  { caller: { organizationId }, protocol, reservation, attempts }: Exchange,
  { body, estimate }: RoutedRequest,
  name: string,
): void {
  const use = attempts.at(-1)?.use;
  if (use === undefined || use.source === 'estimated') return;
  const { usage } = use;
  const isReported = use.source === 'reported';
  if (protocol.hasOutput) {
    const { cap, choices } = protocol.request.output(body);
    const written = Math.ceil(usage.outputTokens / choices);
    const isCut = written >= (reservation?.writtenCap ?? Number.POSITIVE_INFINITY);
    const mayLower = isReported && cap === null && !isCut;
    typicalUse.learn(organizationId, name, 'outputTokens', written, mayLower);
  }
  if (!isReported || estimate.guessedInputTokens === undefined) return;
  const seenTokens = estimate.inputTokens - estimate.guessedInputTokens;
  const unseenTokens = usage.inputTokens - seenTokens;
  typicalUse.learn(organizationId, name, 'unseenInputTokens', unseenTokens, true);
}
