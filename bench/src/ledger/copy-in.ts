import type pg from 'pg';

/** What a connection of the driver can do while COPY waits for its data. */
interface CopyConnection {
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(reason: string): void;
  readonly stream: NodeJS.WritableStream;
}

/** Sends everything that the source gives to a `COPY … FROM STDIN`, and resolves when PostgreSQL has taken it. */
export function copyIn(client: pg.Client, statement: string, source: Iterable<Buffer>): Promise<void> {
  return new Promise((resolve, reject) => {
    let failure: Error | null = null;
    const ignored = () => undefined;
    const copy = {
      submit: (connection: CopyConnection) => connection.query(statement),
      handleCopyInResponse(connection: CopyConnection) {
        send(connection, source).catch((error: unknown) => connection.sendCopyFail(String(error)));
      },
      handleError(error: Error) {
        failure = error;
      },
      handleReadyForQuery() {
        if (failure === null) resolve();
        else reject(failure);
      },
      handleCommandComplete: ignored,
      handleRowDescription: ignored,
      handleDataRow: ignored,
      handleEmptyQuery: ignored,
      handlePortalSuspended: ignored,
    };
    client.query(copy as unknown as pg.Submittable);
  });
}

/** No faster than the socket takes it. */
async function send(connection: CopyConnection, source: Iterable<Buffer>): Promise<void> {
  for (const chunk of source) {
    connection.sendCopyFromChunk(chunk);
    if ((connection.stream as { writableNeedDrain?: boolean }).writableNeedDrain === true)
      await new Promise((resolve) => connection.stream.once('drain', resolve));
  }
  connection.endCopyFrom();
}
