import { open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Api, dataOf } from '../api/client.ts';
import { codeOf } from '../kit/values.ts';

const DAY_MS = 86_400_000;
const PAGE_MAX = 1_000;
/** Requests are recorded when they end, so a day gets rows after its end. */
const FINAL_AFTER_MS = DAY_MS;

export interface ExportedDay {
  readonly day: string;
  readonly file: string;
  /** Null for a file that was kept. */
  readonly requests: number | null;
  readonly state: 'written' | 'kept';
}

export interface DayExport {
  readonly directory: string;
  /** `2026-11-15`, in UTC. */
  readonly day: string;
  /** Unique, so that two exports do not write the same file. */
  readonly partId: string;
  readonly pageMax?: number;
}

export function daysBetween(fromMs: number, toMs: number): string[] {
  const days: string[] = [];
  for (let ms = Math.floor(fromMs / DAY_MS) * DAY_MS; ms <= toMs; ms += DAY_MS)
    days.push(new Date(ms).toISOString().slice(0, 10));
  return days;
}

/**
 * Writes the requests that arrived on one day, newest first, page by page. The file appears under its name when it is complete and
 * synced. A file that was written more than a day after its day ended is final and kept.
 */
export async function exportDay(management: Api['management'], given: DayExport): Promise<ExportedDay> {
  const { directory, day, partId } = given;
  const file = `requests-${day}.jsonl`;
  const path = join(directory, file);
  const endMs = Date.parse(day) + DAY_MS;
  if ((await writtenAtMs(path)) > endMs + FINAL_AFTER_MS) return { day, file, requests: null, state: 'kept' };
  const part = `${path}.${partId}.part`;
  try {
    const requests = await writeDay(management, given, part);
    await rename(part, path);
    return { day, file, requests, state: 'written' };
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

async function writeDay(
  management: Api['management'],
  { day, pageMax = PAGE_MAX }: DayExport,
  path: string,
): Promise<number> {
  await using handle = await open(path, 'wx', 0o640);
  const from = new Date(day).toISOString();
  const to = new Date(Date.parse(day) + DAY_MS).toISOString();
  let requests = 0;
  let cursor: string | null = null;
  do {
    const query = { from, to, limit: pageMax, ...(cursor === null ? {} : { cursor }) };
    const page: { data: readonly object[]; next_cursor: string | null } = await dataOf(
      management.GET('/api/relay/requests', { params: { query } }),
    );
    await handle.appendFile(page.data.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
    requests += page.data.length;
    cursor = page.next_cursor;
  } while (cursor !== null);
  await handle.sync();
  return requests;
}

/** 0 for a file that does not exist. */
async function writtenAtMs(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 0;
    throw error;
  }
}
