import type { PortionOutcome } from '../../../store/ledger/sinks/portions.ts';
import type { StoredMessage, UsageStream } from './usage-stream.ts';

const READS_AT_ONCE = 100;

/** What portions that were never committed have left at the end of the stream. */
export interface Doubts {
  readonly versionIds: Set<string>;
  /** Nothing up to this message is in doubt. */
  readonly baseSeq: number;
}

/**
 * Reads the stream backwards, to the last message of a committed portion: a commit also resolves the doubts that its portion found.
 * It reads no further than the base that the last message names, because outcomes are not kept forever.
 */
export async function readDoubts(
  stream: UsageStream,
  lastSeq: number,
  settle: (portionId: string) => Promise<PortionOutcome>,
): Promise<Doubts> {
  const versionIds = new Set<string>();
  const discarded = new Set<string>();
  let oldestSeq = lastSeq + 1;
  for await (const { seq, portionId, versionId } of backwards(stream, lastSeq)) {
    if (!discarded.has(portionId) && (await settle(portionId)) === 'committed') break;
    discarded.add(portionId);
    versionIds.add(versionId);
    oldestSeq = seq;
  }
  return { versionIds, baseSeq: oldestSeq - 1 };
}

/** From the last message down to its base. Messages of others are passed over. */
async function* backwards(stream: UsageStream, lastSeq: number): AsyncGenerator<StoredMessage> {
  let baseSeq: number | null = null;
  for (let seq = lastSeq; seq > (baseSeq ?? 0); seq -= READS_AT_ONCE) {
    const count = Math.min(READS_AT_ONCE, seq - (baseSeq ?? 0));
    const read = await Promise.all(Array.from({ length: count }, (_, index) => stream.read(seq - index)));
    // The stream was purged, or its limits have removed what is older.
    if (read.every((each) => each === null)) return;
    for (const message of read) {
      if (message === null || message === 'foreign') continue;
      baseSeq ??= message.baseSeq;
      if (message.seq > baseSeq) yield message;
    }
  }
}
