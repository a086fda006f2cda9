import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { RelayError } from '../../domain/relay-error.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Log } from '../../kit/log.ts';
import { bringLines, type UsageSinks } from './bring-lines.ts';
import {
  lineOf,
  linesToBring,
  readLines,
  type SpoolEntry,
  type SpooledDraft,
  type SpooledSettlement,
} from './spool-entry.ts';
import { createSpoolFiles, type HeldFile } from './spool-files.ts';
import { codeOf, thisProcess } from './spool-names.ts';

/** Kept free for the end of each request under way. A record that is larger is written all the same. */
const RECORD_BYTES = 4_096;
/** What the disk did not take waits in memory; past this something is lost, and said to be. */
const MEMORY_ENTRIES_MAX = 50_000;
const BRING_MS_MIN = 250;
const BRING_MS_MAX = 2_000;
const TOUCH_MS = 10_000;
const ADOPT_MS = 30_000;
const SAY_EVERY_MS = 10_000;

export interface SpoolDeps extends UsageSinks {
  /** On a local disk; processes of one deployment may share it. */
  readonly directory: string;
  readonly bytesMax: number;
  /** A UUID, unique to this process. */
  readonly ownerId: string;
  readonly clock: Clock;
  readonly log: Log;
}

export interface SpoolState {
  readonly bytes: number;
  /** What has not arrived yet, in files and in memory. */
  readonly waiting: number;
  /** Requests under way whose draft is here. */
  readonly drafts: number;
  readonly dropped: number;
}

/**
 * Usage that Redis does not take, on disk until it does: bounded, append-only files, taken over by another process when
 * this one dies. What is written here outlives the process, and after 50 ms the machine.
 */
export interface Spool {
  /**
   * Before a request is dispatched without a lease. Throws `metering_unavailable` unless there is room for it and for the
   * ends of the `underWay` requests of this process.
   */
  draft(draft: Omit<SpooledDraft, 'kind'>, underWay: number): void;
  /** The end of a request that has a draft here, or that Redis did not take. */
  settlement(settlement: Omit<SpooledSettlement, 'kind'>): void;
  /** The record of a request that was never dispatched. These may fill half of the room and are dropped past it. */
  record(organizationId: string, record: string): void;
  state(): SpoolState;
  /** Takes over what is left of others, and brings what there is. */
  start(): void;
  /**
   * Brings what it can until the deadline; answers how much is `kept` in the directory for the next process, and how much is
   * `lost` because the disk has not taken it.
   */
  stop(timeoutMs: number): Promise<{ readonly kept: number; readonly lost: number }>;
}

export function createSpool(deps: SpoolDeps): Spool {
  const { clock, log, bytesMax } = deps;
  const owner = thisProcess(deps.ownerId);
  const files = createSpoolFiles({ directory: deps.directory, owner, clock, log });
  const drafts = new Map<string, HeldFile>();
  /** What the disk has refused. */
  let memory: SpoolEntry[] = [];
  let dropped = 0;
  let saidMs = Number.NEGATIVE_INFINITY;
  let bringMs = BRING_MS_MIN;
  let bringing: Promise<boolean> | null = null;
  let bringTimer: NodeJS.Timeout | null = null;
  let timers: NodeJS.Timeout[] = [];
  let stopped = false;

  function keep(entry: SpoolEntry): void {
    const held = files.write(lineOf(entry));
    if (held !== null) {
      held.waiting += 1;
      endDraft(entry);
    } else {
      memory.push(entry);
      if (memory.length > MEMORY_ENTRIES_MAX) drop(memory.shift());
    }
    schedule();
  }

  function drop(entry: SpoolEntry | undefined): void {
    if (entry === undefined) return;
    dropped += 1;
    const nowMs = clock.monotonicMs();
    if (nowMs - saidMs < SAY_EVERY_MS) return;
    saidMs = nowMs;
    log.error({ dropped, bytes: files.bytes() }, 'there is no room for usage; records are lost');
  }

  /** The draft of a request stays until something better has reached the disk or Redis. */
  function endDraft(better: SpoolEntry): void {
    if (better.kind === 'record') return;
    const held = drafts.get(better.operationId);
    if (held === undefined) return;
    drafts.delete(better.operationId);
    held.drafts -= 1;
    releaseIfDone(held);
  }

  function releaseIfDone(held: HeldFile): void {
    if (held.waiting === 0 && held.drafts === 0) files.release(held);
  }

  function waiting(): number {
    return files.held().reduce((sum, held) => sum + held.waiting, memory.length);
  }

  function schedule(): void {
    if (bringTimer !== null || bringing !== null || stopped || waiting() === 0) return;
    bringTimer = setTimeout(() => {
      bringTimer = null;
      void bringAll();
    }, bringMs);
    bringTimer.unref();
  }

  /** Answers whether anything has arrived. */
  function bringAll(): Promise<boolean> {
    bringing ??= bringOnce()
      .catch((error: unknown) => {
        log.error({ err: error }, 'kept usage could not be brought');
        return false;
      })
      .then((moved) => {
        bringing = null;
        bringMs = moved ? BRING_MS_MIN : Math.min(BRING_MS_MAX, bringMs * 2);
        schedule();
        return moved;
      });
    return bringing;
  }

  async function bringOnce(): Promise<boolean> {
    const before = waiting();
    let arrived = await bringMemory();
    for (const held of [...files.held()]) if (held.waiting > 0) arrived += await bringFile(held);
    if (arrived > 0) log.info({ arrived, waiting: waiting() }, 'usage that was kept has arrived');
    return arrived > 0 || waiting() < before;
  }

  async function bringMemory(): Promise<number> {
    if (memory.length === 0) return 0;
    const lines = memory.map((entry, number) => ({ number, entry }));
    const gone = new Set<SpoolEntry>();
    await bringLines(deps, lines, ({ entry }) => gone.add(entry));
    const left = memory.filter((entry) => !gone.has(entry));
    memory = [];
    for (const entry of gone) endDraft(entry);
    // The disk may take by now what it did not take then.
    for (const entry of left) keep(entry);
    return gone.size;
  }

  async function bringFile(held: HeldFile): Promise<number> {
    let text: Buffer;
    try {
      text = await readFile(held.file.path);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') files.forget(held);
      else log.error({ err: error }, 'kept usage cannot be read');
      return 0;
    }
    const { lines, unreadable } = readLines(text.toString('utf8'));
    const wanted = held.taken ? linesToBring(lines) : lines.filter(({ entry }) => entry.kind !== 'draft');
    const todo = wanted.filter(({ number }) => !held.done.has(number));
    let arrived = 0;
    await bringLines(deps, todo, ({ number }) => {
      held.done.add(number);
      arrived += 1;
    });
    // Of what was written meanwhile nothing is known yet.
    if (held.file.bytes !== text.length) {
      held.waiting -= arrived;
      return arrived;
    }
    held.waiting = todo.length - arrived;
    if (held.waiting === 0 && unreadable > 0) log.error({ lines: unreadable }, 'kept usage was damaged');
    releaseIfDone(held);
    return arrived;
  }

  return {
    draft(draft, underWay) {
      const entry = { kind: 'draft', ...draft } as const;
      const line = lineOf(entry);
      const fits = files.bytes() + Buffer.byteLength(line) + underWay * RECORD_BYTES <= bytesMax;
      const held = fits ? files.write(line) : null;
      if (held === null) {
        const internal = fits ? 'the spool cannot be written' : 'the spool is full';
        throw new RelayError('metering_unavailable', { internal });
      }
      held.drafts += 1;
      endDraft(entry);
      drafts.set(draft.operationId, held);
    },
    settlement({ organizationId, operationId, actual, record }) {
      const entry = { kind: 'settlement', organizationId, operationId, actual, record } as const;
      // Whoever was dispatched has its room; for others there may be a lease, which ends by itself.
      if (actual.dispatched || drafts.has(operationId) || hasRoom(entry)) keep(entry);
      else drop(entry);
    },
    record(organizationId, record) {
      const entry = { kind: 'record', organizationId, record } as const;
      if (hasRoom(entry)) keep(entry);
      else drop(entry);
    },
    state: () => ({ bytes: files.bytes(), waiting: waiting(), drafts: drafts.size, dropped }),
    start() {
      const adopt = () => {
        files.adopt();
        schedule();
      };
      adopt();
      timers = [setInterval(files.touch, TOUCH_MS), setInterval(adopt, ADOPT_MS)];
      for (const timer of timers) timer.unref();
    },
    async stop(timeoutMs) {
      stopped = true;
      for (const timer of timers) clearInterval(timer);
      if (bringTimer !== null) clearTimeout(bringTimer);
      const deadlineMs = clock.monotonicMs() + timeoutMs;
      for (let leftMs = timeoutMs; waiting() > 0 && leftMs > 0; leftMs = deadlineMs - clock.monotonicMs()) {
        const moved = await Promise.race([bringAll(), delay(leftMs, false, { ref: false })]);
        if (!moved) await delay(Math.min(leftMs, BRING_MS_MIN));
      }
      files.close();
      return { kept: waiting() - memory.length, lost: memory.length };
    },
  };

  function hasRoom(entry: SpoolEntry): boolean {
    return files.bytes() + Buffer.byteLength(lineOf(entry)) <= bytesMax / 2;
  }
}
