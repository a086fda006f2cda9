import { readFile, stat } from 'node:fs/promises';
import {
  type EntrySource,
  readyEntries,
  type WriteDeps,
  type Written,
  writeEntries,
} from '../write-entries.ts';
import { fieldsOf } from './deliver-lines.ts';
import { linesToDeliver, readLines } from './journal-entry.ts';
import { keepDamaged } from './journal-file.ts';
import type { HeldFile, JournalFiles } from './journal-files.ts';

const ENTRIES_PER_WRITE_MAX = 500;

/**
 * Posts what a dead process left on disk: ends as they are, drafts without an end at their estimate. Removes each file once all
 * of it is in the ledger. Throws when the ledger cannot be written or a file cannot be read.
 */
export async function postLeftUsage(
  deps: WriteDeps & { readonly files: JournalFiles; readonly source: EntrySource },
): Promise<Written> {
  const { files, log } = deps;
  files.adopt();
  let [rows, poisoned] = [0, 0];
  for (const held of files.held().filter(({ taken }) => taken)) {
    const written = await postFile(deps, held);
    rows += written.rows;
    poisoned += written.poisoned;
    files.release(held);
  }
  if (rows > 0) log.info({ rows }, 'wrote the usage of the previous process to the ledger');
  return { rows, poisoned };
}

async function postFile(
  deps: WriteDeps & { readonly source: EntrySource },
  { file, createdMs }: HeldFile,
): Promise<Written> {
  const { lines, unreadable } = readLines(await readFile(file.path, 'utf8'));
  if (unreadable > 0) {
    keepDamaged(file.path);
    deps.log.error(
      { lines: unreadable, file: file.path },
      'spooled usage was damaged; its file is set aside',
    );
  }
  // The last time its owner is known to have lived; nothing was dispatched later.
  const endedMs = Math.max(createdMs, Math.floor((await stat(file.path)).mtimeMs));
  const entries = linesToDeliver(lines).map(({ number, entry }) => ({
    group: deps.source,
    entry: { id: `${endedMs}-${number}`, fields: fieldsOf(entry) },
  }));
  let [rows, poisoned] = [0, 0];
  for (let from = 0; from < entries.length; from += ENTRIES_PER_WRITE_MAX) {
    const part = entries.slice(from, from + ENTRIES_PER_WRITE_MAX);
    const written = await writeEntries(deps, readyEntries(part, deps.clock.nowMs()));
    rows += written.rows;
    poisoned += written.poisoned;
  }
  return { rows, poisoned };
}
