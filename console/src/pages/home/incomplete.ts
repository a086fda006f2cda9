import { formatSpan } from '../../format/spans.ts';
import type { homeText } from '../../text/home.ts';

/** The ledger is a few seconds behind at any time. */
const NORMAL_MS_MAX = 60_000;

/** Null while the figures are complete up to the last minute. `undefined`: nothing is loaded yet. */
export function incompleteWords(
  until: string | null | undefined,
  nowMs: number,
  words: typeof homeText.incomplete,
): string | null {
  if (until === undefined) return null;
  if (until === null) return words.unknown;
  const missingMs = nowMs - Date.parse(until);
  return missingMs <= NORMAL_MS_MAX ? null : words.since(formatSpan(missingMs));
}
