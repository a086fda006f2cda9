import type { Usage } from '../../domain/money/usage.ts';
import { inFull } from '../../protocols/reported-usage.ts';
import type { Metered } from '../exchange.ts';

/** Usage that an answer reported, delivered or not. */
export type Counted = Omit<Metered, 'sent'>;

export const NOTHING_COUNTED: Counted = { reported: null, inPart: null, streamedTokens: 0 };

export function countedOf(usage: Partial<Usage> | null, streamedTokens = 0): Counted {
  const reported = inFull(usage);
  return { reported, inPart: reported === null ? usage : null, streamedTokens };
}
