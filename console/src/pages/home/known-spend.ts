/**
 * Whether a spend is known. None despite requests that did not fail is unknown: their endpoints may have had no
 * price.
 */
export function isSpendKnown(spentMicros: number, requests: number, failed: number): boolean {
  return spentMicros > 0 || requests <= failed;
}
