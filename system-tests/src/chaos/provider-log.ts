import type { RequestLogEntry, ScriptRule } from '@relay/provider-sim';
import { type ProviderProcess, startProviderProcess } from '../harness/provider-process.ts';

/** What the simulated provider itself saw and counted, gathered while it happens: its own log keeps only the latest part. */
export interface ProviderLog {
  readonly process: ProviderProcess;
  script(rules: readonly ScriptRule[]): Promise<void>;
  /** As it is now. */
  entries(): Promise<readonly RequestLogEntry[]>;
  /** What there is of these requests, now; a fallback makes several of one. */
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
    // From the oldest that was not over when it was last seen.
    const open = [...known.values()].find(({ outcome }) => outcome === 'pending')?.id;
    const since = open === undefined ? known.size : open - 1;
    const response = await fetch(`${url}/_sim/log?since=${since}&body=0`, {
      headers: { connection: 'close' },
    });
    const { entries } = (await response.json()) as { entries: RequestLogEntry[] };
    // Ids count up from one, so that a gap means that the log has dropped something.
    for (const entry of entries) known.set(entry.id, { ...entry, rawHeaders: [] });
  }

  function gather(): Promise<void> {
    gathering ??= fetchNew().finally(() => {
      gathering = null;
    });
    return gathering;
  }

  async function entries(): Promise<RequestLogEntry[]> {
    // One that is under way may have begun before what is asked about happened.
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

/** The request's name, which the client put into its body; empty when the body never arrived whole. */
export function tagOf(entry: RequestLogEntry): string {
  return entry.fault?.tag ?? '';
}
