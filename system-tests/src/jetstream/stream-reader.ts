import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { PrivateNats } from '@relay/testbed';
import type { UsageRow } from '../chaos/usage-lines.ts';

const READS_AT_ONCE = 100;

export interface StreamLine extends UsageRow {
  readonly messageId: string;
}

/** Reads what a stream holds, beside Relay. A connection each time, because the server is killed in between. */
export interface StreamReader {
  /** With the shortest duplicate window that the server takes: what comes twice is not removed by it. */
  create(): Promise<void>;
  lastSeq(): Promise<number>;
  lines(): Promise<StreamLine[]>;
  /** Asks for the last sequence without a pause until it passes this one. */
  untilPast(seq: number, waitMsMax: number): Promise<boolean>;
}

export function streamReader({ port }: PrivateNats, name: string): StreamReader {
  async function withManager<T>(work: (manager: JetStreamManager) => Promise<T>): Promise<T> {
    const connection = await connect({ servers: [`127.0.0.1:${port}`], reconnect: false });
    try {
      return await work(await jetstreamManager(connection, { checkAPI: false }));
    } finally {
      await connection.close();
    }
  }
  const lastSeqOf = async ({ streams }: JetStreamManager) => (await streams.info(name)).state.last_seq;

  return {
    create: () =>
      withManager(async ({ streams }) => {
        await streams.add({ name, subjects: [`${name}.*`], duplicate_window: 100_000_000 });
      }),
    lastSeq: () => withManager(lastSeqOf),
    untilPast: (seq, waitMsMax) =>
      withManager(async (manager) => {
        const endMs = performance.now() + waitMsMax;
        while (performance.now() < endMs) if ((await lastSeqOf(manager)) > seq) return true;
        return false;
      }),
    lines: () => withManager((manager) => readAll(manager, name)),
  };
}

async function readAll({ streams }: JetStreamManager, name: string): Promise<StreamLine[]> {
  const { first_seq, last_seq } = (await streams.info(name)).state;
  const lines: StreamLine[] = [];
  for (let from = first_seq; from <= last_seq; from += READS_AT_ONCE) {
    const count = Math.min(READS_AT_ONCE, last_seq - from + 1);
    const read = await Promise.all(
      Array.from({ length: count }, (_, index) => streams.getMessage(name, { seq: from + index })),
    );
    for (const message of read)
      if (message !== null)
        lines.push({ ...message.json<UsageRow>(), messageId: message.header.get('Nats-Msg-Id') });
  }
  return lines;
}
