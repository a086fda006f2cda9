export type { JournalState } from './journal.ts';
export { createLedgerJournal, type LedgerJournal } from './ledger-journal.ts';
export { createStreamJournal } from './stream-journal.ts';
