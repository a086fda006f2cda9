import { readEvents } from '@relay/contract/client';
import type { OptionValues } from 'commander';
import { type Api, connect } from '../api/client.ts';
import { ProgramError } from '../kit/program-error.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { formatOf } from '../output/options.ts';
import { machineText, tableStyle } from '../output/print.ts';
import { renderTable } from '../output/table.ts';
import { type Entry, entryColumns } from './entry-columns.ts';
import { filtersOf } from './filters.ts';

const RETRY_MS = 1_000;
const FAILURES_MAX = 30;

/** Follows the stream until interrupted. Reconnects after failures and resumes without gaps. */
export async function tail(surroundings: Surroundings, options: OptionValues): Promise<void> {
  const api = await connect(surroundings, options);
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(await filtersOf(api, options))) query.set(name, String(value));
  const print = printer(surroundings, options);
  const stopping = new AbortController();
  const forget = surroundings.onInterrupt(() => stopping.abort());
  const { count: countMax = Number.POSITIVE_INFINITY }: { count?: number } = options;
  let printed = 0;
  let lastId: string | null = null;
  let failures = 0;
  try {
    while (!stopping.signal.aborted && printed < countMax) {
      try {
        for await (const { id, data } of await follow(api, query, lastId, stopping.signal)) {
          failures = 0;
          lastId = id ?? lastId;
          await print(JSON.parse(data));
          printed += 1;
          if (printed >= countMax) return;
        }
      } catch (error) {
        if (stopping.signal.aborted) return;
        // Retries broken connections, not rejected requests.
        const wasFollowing = lastId !== null || printed > 0 || failures > 0;
        if (error instanceof ProgramError && (!wasFollowing || 'status' in error)) throw error;
      }
      failures += 1;
      if (failures > FAILURES_MAX)
        throw new ProgramError('The connection keeps failing. Check that Relay is running.');
      await pause(RETRY_MS, stopping.signal);
    }
  } finally {
    stopping.abort();
    forget();
  }
}

async function follow(api: Api, query: URLSearchParams, lastId: string | null, signal: AbortSignal) {
  const search = query.size === 0 ? '' : `?${query}`;
  const response = await api.stream('management', `/api/relay/requests/stream${search}`, {
    headers: lastId === null ? {} : { 'last-event-id': lastId },
    signal,
  });
  return readEvents(response.body);
}

function printer(surroundings: Surroundings, options: OptionValues): (entry: Entry) => Promise<void> {
  const format = formatOf(surroundings, options);
  let isFirst = true;
  return async (entry) => {
    if (format === 'table' || format === 'csv') {
      const text =
        format === 'csv'
          ? await machineText('csv', [entry])
          : renderTable([entry], entryColumns, tableStyle(surroundings));
      // Prints the header once.
      surroundings.stdout.write(isFirst ? text : text.slice(text.indexOf('\n') + 1));
    } else if (format === 'yaml') surroundings.stdout.write(`---\n${await machineText('yaml', entry)}`);
    else surroundings.stdout.write(`${JSON.stringify(entry)}\n`);
    isFirst = false;
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
