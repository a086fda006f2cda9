/** A request that is about to be dispatched. */
export interface JournaledDraft {
  readonly kind: 'draft';
  readonly organizationId: string;
  readonly operationId: string;
  /** Index of its candidate in the draft. */
  readonly candidate: number;
  readonly draft: string;
}

/** The end of an admitted request: its actual usage, and its record. */
export interface JournaledSettlement {
  readonly kind: 'settlement';
  readonly organizationId: string;
  readonly operationId: string;
  readonly actual: JournaledUse;
  /** Of earlier attempts, oldest first. */
  readonly earlier?: readonly JournaledUse[];
  readonly record: string;
}

/** What one attempt used. */
interface JournaledUse {
  readonly dispatched: boolean;
  readonly tokens: number;
  readonly spendMicros: number;
}

/** The record of a request that was never admitted. */
export interface JournaledRecord {
  readonly kind: 'record';
  readonly organizationId: string;
  readonly record: string;
}

/** How a request ended. */
export type JournaledEnd = JournaledSettlement | JournaledRecord;

export type JournalEntry = JournaledDraft | JournaledEnd;

export interface JournalLine {
  /** Counted from the start of the file, unreadable lines included, so that it stays the same while the file grows. */
  readonly number: number;
  readonly entry: JournalEntry;
}

/** One entry is one line: a write that was cut off damages no other entry. */
export function lineOf(entry: JournalEntry): string {
  return `${JSON.stringify(fieldsOf(entry))}\n`;
}

function fieldsOf(entry: JournalEntry): unknown[] {
  switch (entry.kind) {
    case 'draft':
      return ['d', entry.organizationId, entry.operationId, entry.candidate, entry.draft];
    case 'settlement': {
      const { organizationId, operationId, actual, earlier = [], record } = entry;
      return ['s', organizationId, operationId, ...useFields(actual), record, ...earlier.map(useFields)];
    }
    case 'record':
      return ['r', entry.organizationId, entry.record];
  }
}

/** Reads what it can. A last line without its end was being written when the process was killed. */
export function readLines(text: string): { readonly lines: JournalLine[]; readonly unreadable: number } {
  const lines: JournalLine[] = [];
  let unreadable = 0;
  for (const [number, line] of text.split('\n').slice(0, -1).entries()) {
    const entry = readLine(line);
    if (entry === null) unreadable += 1;
    else lines.push({ number, entry });
  }
  return { lines, unreadable };
}

function readLine(line: string): JournalEntry | null {
  let fields: unknown;
  try {
    fields = JSON.parse(line);
  } catch {
    return null;
  }
  if (!Array.isArray(fields)) return null;
  const [kind, organizationId, ...rest]: unknown[] = fields;
  if (typeof organizationId !== 'string') return null;
  if (kind === 'r') {
    const [record] = rest;
    return typeof record === 'string' ? { kind: 'record', organizationId, record } : null;
  }
  const [operationId, ...of] = rest;
  if (typeof operationId !== 'string') return null;
  if (kind === 'd') {
    const [candidate, draft] = of;
    if (typeof candidate !== 'number' || typeof draft !== 'string') return null;
    return { kind: 'draft', organizationId, operationId, candidate, draft };
  }
  const [dispatched, tokens, spendMicros, record, ...before] = of;
  const actual = readUse([dispatched, tokens, spendMicros]);
  if (kind !== 's' || actual === null || typeof record !== 'string') return null;
  const earlier = before.map(readUse).filter((use) => use !== null);
  if (earlier.length < before.length) return null;
  const settlement = { kind: 'settlement', organizationId, operationId, actual, record } as const;
  return earlier.length === 0 ? settlement : { ...settlement, earlier };
}

function useFields({ dispatched, tokens, spendMicros }: JournaledUse): unknown[] {
  return [dispatched, tokens, spendMicros];
}

function readUse(fields: unknown): JournaledUse | null {
  if (!Array.isArray(fields)) return null;
  const [dispatched, tokens, spendMicros]: unknown[] = fields;
  if (typeof dispatched !== 'boolean' || typeof tokens !== 'number' || typeof spendMicros !== 'number')
    return null;
  return { dispatched, tokens, spendMicros };
}

/**
 * The lines of a dead process's file that have to be delivered: everything but the drafts whose end is in the same file, and of
 * several drafts of one request the last. A draft whose end is in another file may be delivered too; the ledger prefers the record.
 */
export function linesToDeliver(lines: readonly JournalLine[]): JournalLine[] {
  const settled = new Set<string>();
  const drafts = new Map<string, number>();
  for (const { number, entry } of lines) {
    if (entry.kind === 'settlement') settled.add(entry.operationId);
    if (entry.kind === 'draft') drafts.set(entry.operationId, number);
  }
  return lines.filter(
    ({ number, entry }) =>
      entry.kind !== 'draft' || (!settled.has(entry.operationId) && drafts.get(entry.operationId) === number),
  );
}
