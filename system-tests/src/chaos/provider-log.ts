import type { RequestLogEntry, ScriptRule } from '@relay/provider-sim';
import { type ProviderProcess, startProviderProcess } from '../harness/provider-process.ts';

/** What the simulated provider saw and counted, collected continuously because its own log keeps only recent requests. */
export interface ProviderLog {
  readonly process: ProviderProcess;
  script(rules: readonly ScriptRule[]): Promise<void>;
  /** All entries up to now. */
  entries(): Promise<readonly RequestLogEntry[]>;
  /** The entries of these requests up to now. A fallback adds an entry to its request. */
  of(tags: readonly string[]): Promise<readonly RequestLogEntry[]>;
  stop(): Promise<void>;
}

const GATHER_EVERY_MS = 1_000;

export async function startProviderLog(): Promise<ProviderLog> {
  const process = await startProviderProcess();
  const url = process.baseUrl.replace(/\/v1$/, '');
  const known = new Map<number, RequestLogEntry>();
  let gathering: Promise<void> | null = null;

  async function fetchNew(): Promise<void> {
    // From the oldest entry that was unfinished at the last read.
    const open = [...known.values()].find(({ outcome }) => outcome === 'pending')?.id;
    const since = open === undefined ? known.size : open - 1;
    const response = await fetch(`${url}/_sim/log?since=${since}&body=0`, {
      headers: { connection: 'close' },
    });
    const { entries } = (await response.json()) as { entries: RequestLogEntry[] };
    // Ids count up from 1, so a gap means that the log has dropped entries.
    for (const entry of entries) known.set(entry.id, { ...entry, rawHeaders: [] });
  }

  function gather(): Promise<void> {
    gathering ??= fetchNew().finally(() => {
      gathering = null;
    });
    return gathering;
  }

  async function entries(): Promise<RequestLogEntry[]> {
    // A read in progress may have started before the event.
    await gathering;
    await gather();
    const list = [...known.values()].sort((a, b) => a.id - b.id);
    if ((list.at(-1)?.id ?? 0) !== list.length) throw new Error('the provider dropped a part of its log');
    return list;
  }

  const timer = setInterval(() => void gather().catch(() => undefined), GATHER_EVERY_MS);
  return {
    process,
    entries,
    async of(tags) {
      const wanted = new Set(tags);
      return (await entries()).filter((entry) => wanted.has(tagOf(entry)));
    },
    async script(rules) {
      const response = await fetch(`${url}/_sim/script`, { method: 'POST', body: JSON.stringify(rules) });
      if (!response.ok) throw new Error(`the provider refused the script: ${await response.text()}`);
    },
    async stop() {
      clearInterval(timer);
      await gathering?.catch(() => undefined);
      await process.stop();
    },
  };
}

/** The tag that the client put into the body. Empty when the body did not arrive completely. */
export function tagOf(entry: RequestLogEntry): string {
  return entry.fault?.tag ?? '';
}
