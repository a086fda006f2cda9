import type { WhatIf } from '@relay/contract';
import type { ReplayedConfiguration } from './replay.ts';

/** The limit that an edit is of; the ID of a new one is known once it is written. */
export interface EditedLimit {
  readonly id: string | null;
}

export interface WhatIfInput {
  readonly before: ReplayedConfiguration;
  readonly after: ReplayedConfiguration;
  /** Null for an edit of something else. */
  readonly editedLaneId: string | null;
  readonly editedLimit: EditedLimit | null;
  readonly waitersMax: number;
  /** The time that the requests are of. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly tookMsMax: number;
}

/** Messages to the thread, in this order: the configurations, requests by arrival in any number of parts, the end. */
export type WhatIfMessage =
  | { readonly kind: 'start'; readonly input: WhatIfInput }
  | { readonly kind: 'rows'; readonly json: string }
  | { readonly kind: 'finish' };

export type WhatIfReplayed = Omit<WhatIf, 'from' | 'took_ms' | 'cut'> & { readonly isCutShort: boolean };
