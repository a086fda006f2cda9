/** A request that was about to be dispatched while Redis did not answer. */
export interface SpooledDraft {
  readonly kind: 'draft';
  readonly organizationId: string;
  readonly operationId: string;
  /** The place of its candidate in the draft. */
  readonly candidate: number;
  readonly draft: string;
}

/** The end of a request that was admitted: what its reservation is corrected to, and its record. */
export interface SpooledSettlement {
  readonly kind: 'settlement';
  readonly organizationId: string;
  readonly operationId: string;
  readonly actual: { readonly dispatched: boolean; readonly tokens: number; readonly spendMicros: number };
  readonly record: string;
}

/** The record of a request that was never admitted. */
export interface SpooledRecord {
  readonly kind: 'record';
  readonly organizationId: string;
  readonly record: string;
}

export type SpoolEntry = SpooledDraft | SpooledSettlement | SpooledRecord;

export interface SpoolLine {
  /** Counted from the start of the file, unreadable lines included: it names the entry as long as the file grows. */
  readonly number: number;
  readonly entry: SpoolEntry;
}

/** One entry is one line, so that whatever was written last can be cut off anywhere and costs no other. */
export function lineOf(entry: SpoolEntry): string {
  return `${JSON.stringify(fieldsOf(entry))}\n`;
}

function fieldsOf(entry: SpoolEntry): unknown[] {
  switch (entry.kind) {
    case 'draft':
      return ['d', entry.organizationId, entry.operationId, entry.candidate, entry.draft];
    case 'settlement': {
      const { dispatched, tokens, spendMicros } = entry.actual;
      return ['s', entry.organizationId, entry.operationId, dispatched, tokens, spendMicros, entry.record];
    }
    case 'record':
      return ['r', entry.organizationId, entry.record];
  }
}

/** What can be read of a file. A last line without its end was being written when the process was killed. */
export function readLines(text: string): { readonly lines: SpoolLine[]; readonly unreadable: number } {
  const lines: SpoolLine[] = [];
  let unreadable = 0;
  for (const [number, line] of text.split('\n').slice(0, -1).entries()) {
    const entry = readLine(line);
    if (entry === null) unreadable += 1;
    else lines.push({ number, entry });
  }
  return { lines, unreadable };
}

function readLine(line: string): SpoolEntry | null {
  let fields: unknown;
  try {
    fields = JSON.parse(line);
  } catch {
    return null;
  }
  if (!Array.isArray(fields)) return null;
  const [kind, organizationId, ...rest] = fields as unknown[];
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
  const [dispatched, tokens, spendMicros, record] = of;
  if (kind !== 's' || typeof dispatched !== 'boolean' || typeof record !== 'string') return null;
  if (typeof tokens !== 'number' || typeof spendMicros !== 'number') return null;
  const actual = { dispatched, tokens, spendMicros };
  return { kind: 'settlement', organizationId, operationId, actual, record };
}

/**
 * What a process that takes over a file has to bring: everything but the drafts whose end is in the same file, and of several
 * drafts of one request the last. A draft whose end is in another file may come along; the ledger prefers the record.
 */
export function linesToBring(lines: readonly SpoolLine[]): SpoolLine[] {
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
