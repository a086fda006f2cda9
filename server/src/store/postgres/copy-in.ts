import { setImmediate as nextTurn } from 'node:timers/promises';
import pg from 'pg';

/**
 * What a `copy … from stdin` reads, given as the only parameter of the statement. Each part is made while PostgreSQL works on the
 * parts before it. A server takes it; the embedded database does not.
 */
export class CopyData {
  readonly parts: Iterable<string>;
  constructor(parts: Iterable<string>) {
    this.parts = parts;
  }
}

/** What a connection of the driver can do while COPY waits for its data. */
interface CopyConnection {
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(reason: string): void;
}

/** Timeouts and errors are those of the driver's other queries. */
export function copyIn(client: pg.ClientBase, text: string, data: CopyData): Promise<pg.QueryResult> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    const callback = (error: Error | null | undefined, result: pg.QueryResult) => {
      isOver = true;
      if (error) reject(error);
      else resolve(result);
    };

    async function send(connection: CopyConnection): Promise<void> {
      for (const part of data.parts) {
        // After an error, the connection belongs to the next statement.
        if (isOver) return;
        connection.sendCopyFromChunk(Buffer.from(part));
        await nextTurn();
      }
      if (!isOver) connection.endCopyFrom();
    }

    const query = new pg.Query({ text, callback } as pg.QueryConfig);
    const handleCopyInResponse = (connection: CopyConnection) => {
      send(connection).catch((error: unknown) => {
        if (!isOver) connection.sendCopyFail(error instanceof Error ? error.name : 'no data');
      });
    };
    client.query(Object.assign(query, { handleCopyInResponse }));
  });
}
