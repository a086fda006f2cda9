import type { SettleAsk } from './engine.ts';

/** A request that is dispatched while the engine is unavailable. */
export interface JournalDraft {
  readonly organizationId: string;
  readonly operationId: string;
  /** The index of the chosen candidate in the draft. */
  readonly candidate: number;
  readonly draft: string;
}

/** Keeps requests that the engine does not know, so that their rows survive the process. */
export interface Journal {
  /**
   * Called before the dispatch. Throws `metering_unavailable` when the journal has no space for the draft and for the ends
   * of the `live` requests of this process.
   */
  draft(draft: JournalDraft, live: number): void;
  /** The end of a request with a draft here, or one that the engine did not take. The journal delivers it later. */
  settlement(settlement: SettleAsk): void;
}
