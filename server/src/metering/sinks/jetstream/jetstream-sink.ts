import type { DeploymentIdentity } from '../../../store/deployment/identity.ts';
import type { PortionOutcome } from '../../../store/ledger/sinks/portions.ts';
import type { SinkRow } from '../../../store/ledger/sinks/read-rows.ts';
import type { LedgerSink, SinkPortion } from '../ledger-sink.ts';
import { usageLine, versionIdOf } from '../usage-line.ts';
import { type Doubts, readDoubts } from './doubts.ts';
import {
  ForeignStreamError,
  openUsageStream,
  type UsageStream,
  type UsageStreamDeps,
} from './usage-stream.ts';

const MESSAGES_PER_PORTION_MAX = 5_000;
/** How far a start looks for the last message of Relay. */
const READ_BACK_MAX = 100;
/** Bounds the memory for messages that the server has not acknowledged. */
const SENT_AT_ONCE = 250;

export interface JetStreamDeps extends UsageStreamDeps {
  /** Unique over all processes. */
  readonly newPortionId: () => string;
  readonly messagesMax?: number;
}

/**
 * One message per row, in a stream that only Relay publishes to. Messages are visible before their portion is committed, so a portion
 * begins by reading which messages at the end of the stream belong to no committed portion, and does not send those rows again.
 *
 * Each message names its predecessor, and the server refuses it after any other. So no process adds to the stream what it has not
 * read, and exactness depends neither on the lease nor on the stream's duplicate window.
 */
export function createJetStreamSink(deps: JetStreamDeps): LedgerSink {
  const { messagesMax = MESSAGES_PER_PORTION_MAX } = deps;
  let open: UsageStream | null = null;
  let own: DeploymentIdentity | null = null;
  let ended: { readonly id: string; readonly seq: number } | null = null;
  /** The last message of this process's last committed portion. */
  let settledSeq: number | null = null;

  async function close(): Promise<void> {
    const closing = open;
    open = null;
    await closing?.close();
  }

  async function opened(): Promise<UsageStream> {
    if (open === null || open.isClosed()) open = await openUsageStream(deps, own);
    return open;
  }

  async function begin(settle: (portionId: string) => Promise<PortionOutcome>): Promise<SinkPortion> {
    const stream = await opened();
    const lastSeq = await stream.lastSeq();
    const doubts =
      lastSeq === settledSeq
        ? { versionIds: new Set<string>(), baseSeq: lastSeq }
        : await readDoubts(stream, lastSeq, settle);
    const id = deps.newPortionId();
    return createPortion(
      { stream, id, doubts, lastSeq, messagesMax },
      {
        sealed: (seq) => {
          ended = { id, seq };
        },
        failed: close,
      },
    );
  }

  return {
    name: 'jetstream',
    async claim(claimant) {
      own = claimant;
      try {
        await readLast(await opened());
        return null;
      } catch (error) {
        await close();
        if (error instanceof ForeignStreamError) return error.owner;
        throw error;
      }
    },
    async begin(settle) {
      try {
        return await begin(settle);
      } catch (error) {
        await close();
        throw error;
      }
    },
    unfinished: () => Promise.resolve([]),
    async publish(id) {
      if (ended?.id === id) settledSeq = ended.seq;
    },
    discard: () => Promise.resolve(),
    close,
  };
}

/** Relay's last message tells whose the stream is; others may have published after it. */
async function readLast(stream: UsageStream): Promise<void> {
  const lastSeq = await stream.lastSeq();
  const oldestSeq = Math.max(0, lastSeq - READ_BACK_MAX);
  for (let seq = lastSeq; seq > oldestSeq && (await stream.read(seq)) === 'foreign'; ) seq -= 1;
}

interface PortionParts {
  readonly stream: UsageStream;
  readonly id: string;
  readonly doubts: Doubts;
  readonly lastSeq: number;
  readonly messagesMax: number;
}

interface PortionEnds {
  readonly sealed: (lastSeq: number) => void;
  /** Closes the connection, with what is still being sent. */
  readonly failed: () => Promise<void>;
}

function createPortion(parts: PortionParts, ends: PortionEnds): SinkPortion {
  const { stream, id, doubts, messagesMax } = parts;
  let { lastSeq } = parts;
  let isSealed = false;

  async function send(row: SinkRow): Promise<void> {
    const { organization_id: organizationId } = row;
    const afterSeq = lastSeq;
    lastSeq += 1;
    const { baseSeq } = doubts;
    const [versionId, text] = [versionIdOf(row), usageLine(row)];
    return stream.send({ versionId, organizationId, text, portionId: id, baseSeq, afterSeq });
  }

  return {
    id,
    // A commit resolves the doubts of its entries. With others left, the next portion would have to read back past this one.
    isFull: () => lastSeq - parts.lastSeq >= messagesMax && doubts.versionIds.size === 0,
    async add(rows) {
      const unsent = rows.filter((row) => !doubts.versionIds.has(versionIdOf(row)));
      for (let from = 0; from < unsent.length; from += SENT_AT_ONCE)
        await Promise.all(unsent.slice(from, from + SENT_AT_ONCE).map(send));
    },
    endEntry(versionIds) {
      for (const versionId of versionIds) doubts.versionIds.delete(versionId);
    },
    async seal() {
      isSealed = true;
      ends.sealed(lastSeq);
    },
    async close() {
      if (!isSealed) await ends.failed();
    },
  };
}
