import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { deliverLines, type UsageTargets } from './deliver-lines.ts';
import { createDeliveryLoop } from './delivery-loop.ts';
import { createJournal, type Journal, type JournalDeps, type UsageJournal } from './journal.ts';
import { type JournalEntry, type JournaledEnd, linesToDeliver, readLines } from './journal-entry.ts';
import { keepDamaged } from './journal-file.ts';
import type { HeldFile } from './journal-files.ts';
import { codeOf } from './journal-names.ts';

/** Ends that the disk refused wait in memory; past this number the oldest is dropped. */
const MEMORY_ENTRIES_MAX = 50_000;
const DELIVER_MS_MIN = 250;
const DELIVER_MS_MAX = 2_000;
const TOUCH_MS = 10_000;
const ADOPT_MS = 30_000;

/** The directory may be shared by the processes of one deployment. */
export interface StreamJournalDeps extends JournalDeps, UsageTargets {}

/** Keeps usage that Redis does not take, and delivers it when Redis is back. */
export interface StreamJournal extends UsageJournal {
  /** Takes over the files of dead processes, and delivers what there is. */
  start(): void;
}

export function createStreamJournal(deps: StreamJournalDeps): StreamJournal {
  const { clock, log } = deps;
  const journal = createJournal({ ...deps, isAlone: false });
  const memory = createMemory(journal, deps);
  const waiting = () => journal.files.held().reduce((sum, held) => sum + held.waiting, memory.size());
  let delayMs = DELIVER_MS_MIN;
  let timers: NodeJS.Timeout[] = [];

  async function deliverAll(): Promise<number> {
    let delivered = await memory.deliver();
    for (const held of [...journal.files.held()])
      if (held.waiting > 0) delivered += await deliverFile(journal, deps, held);
    if (delivered > 0) log.info({ arrived: delivered, waiting: waiting() }, 'delivered spooled usage');
    return delivered;
  }

  const loop = createDeliveryLoop({
    firstDelayMs: DELIVER_MS_MIN,
    hasWork: () => waiting() > 0,
    async deliver() {
      const before = waiting();
      const delivered = await deliverAll().catch((error: unknown) => {
        log.error({ err: error }, 'could not deliver spooled usage');
        return 0;
      });
      const hasMoved = delivered > 0 || waiting() < before;
      delayMs = hasMoved ? DELIVER_MS_MIN : Math.min(DELIVER_MS_MAX, delayMs * 2);
      return delayMs;
    },
  });

  function keep(entry: JournaledEnd): void {
    if (!journal.accepts(entry)) return;
    memory.keep(entry);
    loop.schedule();
  }

  function adopt(): void {
    journal.files.adopt();
    loop.schedule();
  }

  return {
    draft: journal.draft,
    settlement: (settlement) => keep({ kind: 'settlement', ...settlement }),
    record: (organizationId, record) => keep({ kind: 'record', organizationId, record }),
    state: () => ({ ...journal.counts(), waiting: waiting() }),
    start() {
      adopt();
      timers = [setInterval(journal.files.touch, TOUCH_MS), setInterval(adopt, ADOPT_MS)];
      for (const timer of timers) timer.unref();
    },
    async stop(timeoutMs) {
      for (const timer of timers) clearInterval(timer);
      void loop.stop();
      const deadlineMs = clock.monotonicMs() + timeoutMs;
      for (let leftMs = timeoutMs; waiting() > 0 && leftMs > 0; leftMs = deadlineMs - clock.monotonicMs()) {
        const before = waiting();
        await Promise.race([loop.run(), delay(leftMs, undefined, { ref: false })]);
        if (waiting() >= before) await delay(Math.min(leftMs, DELIVER_MS_MIN));
      }
      journal.files.close();
      return { kept: waiting() - memory.size(), lost: memory.size() };
    },
  };
}

/** Writes ends to the journal, and holds those that the disk refuses. */
function createMemory(journal: Journal, targets: UsageTargets) {
  let entries: JournaledEnd[] = [];

  function keep(entry: JournaledEnd): void {
    if (journal.append(entry) !== null) return;
    entries.push(entry);
    if (entries.length <= MEMORY_ENTRIES_MAX) return;
    entries.shift();
    journal.drop();
  }

  return {
    keep,
    size: () => entries.length,
    async deliver(): Promise<number> {
      if (entries.length === 0) return 0;
      const lines = entries.map((entry, number) => ({ number, entry }));
      const gone = new Set<JournalEntry>();
      await deliverLines(targets, lines, ({ entry }) => gone.add(entry));
      const left = entries.filter((entry) => !gone.has(entry));
      entries = [];
      for (const entry of gone) if (entry.kind === 'settlement') journal.endDraft(entry.operationId);
      // The disk may accept by now what it refused before.
      for (const entry of left) keep(entry);
      return gone.size;
    },
  };
}

async function deliverFile(
  journal: Journal,
  { log, settle, send }: Pick<StreamJournalDeps, 'log' | 'settle' | 'send'>,
  held: HeldFile,
): Promise<number> {
  let text: Buffer;
  try {
    text = await readFile(held.file.path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') journal.files.forget(held);
    else log.error({ err: error }, 'cannot read spooled usage');
    return 0;
  }
  const { lines, unreadable } = readLines(text.toString('utf8'));
  const wanted = held.taken ? linesToDeliver(lines) : lines.filter(({ entry }) => entry.kind !== 'draft');
  const todo = wanted.filter(({ number }) => !held.done.has(number));
  let delivered = 0;
  await deliverLines({ settle, send }, todo, ({ number }) => {
    held.done.add(number);
    delivered += 1;
  });
  // Lines that were written in the meantime are not read yet.
  if (held.file.bytes !== text.length) {
    held.waiting -= delivered;
    return delivered;
  }
  held.waiting = todo.length - delivered;
  if (held.waiting === 0 && unreadable > 0) {
    keepDamaged(held.file.path);
    const about = { lines: unreadable, file: held.file.path };
    log.error(about, 'spooled usage was damaged; its file is set aside');
  }
  journal.releaseIfDone(held);
  return delivered;
}
