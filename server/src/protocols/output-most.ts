import type { OutputMost } from '../domain/limits/hard-reservation.ts';
import type { OutputBounds } from './output-cap.ts';

/** What a request writes at most. */
export function outputMostOf(bounds: OutputBounds, predictedTokens = 0): OutputMost {
  return {
    hasOutput: true,
    outputCap: bounds.cap,
    unboundedOutput: bounds.unreadable,
    outputAtLeast: bounds.atLeast,
    choices: bounds.choices,
    predictedTokens,
  };
}

/** Of one in which the model writes nothing. */
export const WRITES_NOTHING: OutputMost = {
  hasOutput: false,
  outputCap: null,
  unboundedOutput: null,
  outputAtLeast: 0,
  choices: 1,
  predictedTokens: 0,
};
