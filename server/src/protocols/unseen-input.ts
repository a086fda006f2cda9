import type { TokenEstimate } from '../domain/money/usage.ts';
import type { MeasuredInput } from './estimate-input.ts';
import type { TypicalTokens } from './protocol.ts';

/** Where the model reads what is not in the request, what is typical for that is added as a guess. */
export function withUnseenInput(
  { tokens, isPartlyUnseen }: MeasuredInput,
  { unseenInputTokens }: TypicalTokens,
): Omit<TokenEstimate, 'outputTokens'> {
  if (!isPartlyUnseen) return { inputTokens: tokens };
  return { inputTokens: tokens + unseenInputTokens, guessedInputTokens: unseenInputTokens };
}
