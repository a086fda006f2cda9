import type { WhatIf } from '@relay/contract';
import type { ReplayedConfiguration } from './replay.ts';

export interface WhatIfInput {
  readonly before: ReplayedConfiguration;
  readonly after: ReplayedConfiguration;
  readonly waitersMax: number;
  /** The time that the requests are of. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly tookMsMax: number;
}

/** Messages to the thread: requests, newest first, in parts; then the configurations to replay them with. */
export type WhatIfMessage =
  | { readonly kind: 'rows'; readonly json: string }
  | { readonly kind: 'run'; readonly input: WhatIfInput };

export type WhatIfReplayed = Omit<WhatIf, 'from' | 'took_ms' | 'cut'> & { readonly isCutShort: boolean };
