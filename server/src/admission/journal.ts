import type { SettleAsk } from './engine.ts';

/** A request that is dispatched although the engine could not be asked. */
export interface JournalDraft {
  readonly organizationId: string;
  readonly operationId: string;
  /** The place of the chosen candidate in the draft. */
  readonly candidate: number;
  readonly draft: string;
}

/** Where requests are written down that the engine does not hear of, so that they outlive the process. */
export interface Journal {
  /**
   * Before the request is dispatched. Throws `metering_unavailable` when there is no room for it and for the ends of
   * the `underWay` requests that this process has.
   */
  draft(draft: JournalDraft, underWay: number): void;
  /** The end of a request that has a draft here, or that the engine did not take; the journal brings it there. */
  settlement(settlement: SettleAsk): void;
}
