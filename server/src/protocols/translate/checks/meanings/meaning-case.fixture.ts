import type { JsonObject } from '../../../../kit/json-value.ts';
import type { ClientProtocol, ProviderProtocol } from '../../meanings.ts';

/** How a client says it: members of its request, and the path that a name or a refusal has. */
export interface Given {
  readonly says: JsonObject;
  readonly path?: string;
}

/** Left out and named, a reason to ask another endpoint, or members of the provider's request. */
export type Outcome = 'named' | 'refused' | JsonObject;

/** One meaning: the outcome depends on the provider, and not on who asks. */
export interface MeaningCase {
  readonly meaning: string;
  readonly from: Partial<Record<ClientProtocol, Given>>;
  readonly to: Partial<Record<ProviderProtocol, Outcome>>;
  /** A pair that differs, with its reason. */
  readonly except?: {
    readonly client: ClientProtocol;
    readonly provider: ProviderProtocol;
    readonly outcome: Outcome;
    readonly why: string;
  };
}

export const everywhere = (outcome: Outcome) => ({ chat: outcome, messages: outcome });
