import { systemClock } from '../../kit/clock.ts';
import { entryIn } from '../../kit/entry-in.ts';
import type { AdmissionAnswer, AdmissionAsk, SettleAnswer, SettleAsk } from '../engine.ts';
import type { Batch, BatchReply, EncodedBatch } from './batch.ts';
import type { ShapedAsk } from './shapes.ts';

/** Calls of one shard that have no reply yet; what comes meanwhile goes together in the next. */
const CALLS_MAX = 2;
/** Bounds of one call: other organizations of the server wait while it runs. */
const OPERATIONS_MAX = 64;
/** While requests wait in the shard: each operation then moves a line. */
const OPERATIONS_MAX_IN_LINE = 16;
const CHARACTERS_MAX = 100_000;
/** Charges at candidates after an ask's first one: only the full rules read them, at about 10 µs each. */
const LATER_CHARGES_MAX = 256;

type Part =
  | { readonly kind: 'settle'; readonly settle: SettleAsk; readonly done: (answer: SettleAnswer) => void }
  | {
      readonly kind: 'void';
      readonly left: { readonly organizationId: string; readonly operationId: string };
      readonly done: () => void;
    }
  | { readonly kind: 'ask'; readonly shaped: ShapedAsk; readonly done: (answer: AdmissionAnswer) => void };

type Waiting = Part & {
  readonly organizationId: string;
  readonly operationId: string;
  readonly characters: number;
  readonly laterCharges: number;
  readonly fail: (error: unknown) => void;
};

interface Lot {
  waiting: Waiting[];
  calls: number;
  scheduled: boolean;
  /** Requests waited in the shard at the last reply. */
  hasLine: boolean;
}

const emptyLot = (): Lot => ({ waiting: [], calls: 0, scheduled: false, hasLine: false });

export interface BatchesDeps {
  readonly encode: (batch: Batch) => EncodedBatch;
  readonly send: (prefix: string, encoded: EncodedBatch) => Promise<unknown>;
  /** Before the callers get their answers. What it returns runs after they went on. */
  readonly onReply: (reply: BatchReply, batch: Batch, tookMs: number) => () => void;
  readonly onFailure: (prefix: string, batch: Batch) => void;
}

export interface Batches {
  settle(prefix: string, settle: SettleAsk): Promise<SettleAnswer>;
  void(prefix: string, organizationId: string, operationId: string): Promise<void>;
  ask(prefix: string, ask: AdmissionAsk, shaped: ShapedAsk): Promise<AdmissionAnswer>;
}

/** Everything of one turn of the event loop and one shard goes to the store in one call. */
export function createBatches(deps: BatchesDeps): Batches {
  const lots = new Map<string, Lot>();

  function add(prefix: string, part: Waiting): void {
    const lot = entryIn(lots, prefix, emptyLot);
    lot.waiting.push(part);
    schedule(prefix, lot);
  }

  function schedule(prefix: string, lot: Lot): void {
    if (lot.scheduled || lot.calls >= CALLS_MAX || lot.waiting.length === 0) return;
    lot.scheduled = true;
    setImmediate(() => {
      lot.scheduled = false;
      void send(prefix, lot);
      schedule(prefix, lot);
    });
  }

  async function send(prefix: string, lot: Lot): Promise<void> {
    const parts = take(lot);
    lot.calls += 1;
    const batch = batchOf(parts);
    try {
      const encoded = deps.encode(batch);
      const sentMs = systemClock.monotonicMs();
      const reply = encoded.read(await deps.send(prefix, encoded));
      lot.hasLine = [...reply.nexts.values()].some((inMs) => inMs !== null);
      const tell = deps.onReply(reply, batch, systemClock.monotonicMs() - sentMs);
      answer(parts, reply);
      setImmediate(tell);
    } catch (error) {
      for (const { fail } of parts) fail(error);
      deps.onFailure(prefix, batch);
    } finally {
      lot.calls -= 1;
      schedule(prefix, lot);
    }
  }

  return {
    settle: (prefix, settle) =>
      new Promise((done, fail) => {
        const { organizationId, operationId, record } = settle;
        const size = { characters: record.length, laterCharges: 0 };
        add(prefix, { kind: 'settle', settle, organizationId, operationId, ...size, done, fail });
      }),
    void: (prefix, organizationId, operationId) =>
      new Promise((done, fail) => {
        const left = { organizationId, operationId };
        add(prefix, { kind: 'void', left, ...left, characters: 0, laterCharges: 0, done, fail });
      }),
    ask: (prefix, { organizationId, operationId, draft, candidates }, shaped) =>
      new Promise((done, fail) => {
        const size = { characters: draft.length, laterCharges: laterChargesOf(candidates) };
        add(prefix, { kind: 'ask', shaped, organizationId, operationId, ...size, done, fail });
      }),
  };
}

/** What fits one call. */
class Room {
  readonly #seen = new Set<string>();
  readonly #operationsMax: number;
  #characters = 0;
  #laterCharges = 0;

  constructor(operationsMax: number) {
    this.#operationsMax = operationsMax;
  }

  /** Within a call settlements come before asks, so what concerns one operation goes in calls that follow each other. */
  takes({ operationId, characters, laterCharges }: Waiting): boolean {
    this.#characters += characters;
    this.#laterCharges += laterCharges;
    const isLarge = this.#characters > CHARACTERS_MAX || this.#laterCharges > LATER_CHARGES_MAX;
    const isFull = this.#seen.size === this.#operationsMax || (this.#seen.size > 0 && isLarge);
    if (isFull || this.#seen.has(operationId)) return false;
    this.#seen.add(operationId);
    return true;
  }
}

/** The next parts: all of them if they fit, otherwise organizations take turns, each in the order in which its parts came. */
function take(lot: Lot): Waiting[] {
  const { waiting } = lot;
  const most = lot.hasLine ? OPERATIONS_MAX_IN_LINE : OPERATIONS_MAX;
  const whole = new Room(most);
  if (waiting.length <= most && waiting.every((part) => whole.takes(part))) {
    lot.waiting = [];
    return waiting;
  }
  const room = new Room(most);
  const parts = new Set<Waiting>();
  for (const part of inTurn(waiting)) {
    if (!room.takes(part)) break;
    parts.add(part);
  }
  lot.waiting = waiting.filter((part) => !parts.has(part));
  return [...parts];
}

function* inTurn(waiting: readonly Waiting[]): Generator<Waiting> {
  const lines = [...Map.groupBy(waiting, ({ organizationId }) => organizationId).values()];
  // The longest line bounds the rounds.
  for (let round = 0; lines.some((line) => line.length > round); round += 1)
    for (const line of lines) {
      const part = line[round];
      if (part !== undefined) yield part;
    }
}

function laterChargesOf(candidates: AdmissionAsk['candidates']): number {
  let count = 0;
  for (let index = 1; index < candidates.length; index += 1) count += candidates[index]?.charges.length ?? 0;
  return count;
}

function batchOf(parts: readonly Waiting[]): Batch {
  const settles: SettleAsk[] = [];
  const voids: { organizationId: string; operationId: string }[] = [];
  const asks: ShapedAsk[] = [];
  for (const part of parts) {
    if (part.kind === 'settle') settles.push(part.settle);
    else if (part.kind === 'void') voids.push(part.left);
    else asks.push(part.shaped);
  }
  return { settles, voids, asks };
}

function answer(parts: readonly Waiting[], { settled, answers }: BatchReply): void {
  let settles = 0;
  let asks = 0;
  for (const part of parts) {
    if (part.kind === 'void') part.done();
    else if (part.kind === 'settle') {
      part.done(settled[settles] ?? 'unknown');
      settles += 1;
    } else {
      const given = answers[asks];
      if (given === undefined) part.fail(new TypeError('a batch returned no result for a request'));
      else part.done(given);
      asks += 1;
    }
  }
}
