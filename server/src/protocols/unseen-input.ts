import type { TokenEstimate } from '../domain/money/usage.ts';
import type { MeasuredInput } from './estimate-input.ts';
import type { TypicalTokens } from './protocol.ts';

/** Where the model reads files, or what is not in the request, their size or what is typical for that is added as a guess. */
export function withUnseenInput(
  { tokens, fileTokens, isPartlyUnseen }: MeasuredInput,
  { unseenInputTokens }: TypicalTokens,
): Omit<TokenEstimate, 'outputTokens'> {
  const guessedInputTokens = fileTokens + (isPartlyUnseen ? unseenInputTokens : 0);
  return guessedInputTokens === 0
    ? { inputTokens: tokens }
    : { inputTokens: tokens + guessedInputTokens, guessedInputTokens };
}
