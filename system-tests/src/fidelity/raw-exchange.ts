import { type Agent, request } from 'node:http';
import { writePieces } from './scripted-upstream.ts';

export interface RawAnswer {
  readonly status: number;
  /** Names in lower case, each with its values in order. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly body: Buffer;
  /** False when the connection was lost before the body's end. */
  readonly whole: boolean;
}

export interface RawRequest {
  readonly url: string;
  readonly agent: Agent;
  readonly headers: Readonly<Record<string, string>>;
  /** More than one piece is sent chunked. */
  readonly pieces: readonly Buffer[];
}

/** Sends bytes and keeps the bytes of the answer: nothing is decoded, decompressed or retried. */
export function exchangeRaw({ url, agent, headers, pieces }: RawRequest): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const only = pieces.length === 1 ? pieces[0] : undefined;
    const framing = only === undefined ? {} : { 'content-length': String(only.length) };
    const sending = request(url, { method: 'POST', agent, headers: { ...headers, ...framing } });
    // An unreadable response counts as a wrong one.
    sending.on('error', (error) =>
      resolve({ status: 0, headers: new Map(), body: Buffer.from(error.message), whole: false }),
    );
    sending.on('response', (response) => {
      const chunks: Buffer[] = [];
      const finish = () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: headerLists(response.rawHeaders),
          body: Buffer.concat(chunks),
          whole: response.complete,
        });
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', finish);
      response.on('error', finish);
    });
    if (only !== undefined) sending.end(only);
    else void writePieces(pieces, (piece) => sending.write(piece)).then(() => sending.end());
  });
}

export function headerLists(raw: readonly string[]): Map<string, string[]> {
  const lists = new Map<string, string[]>();
  for (let at = 0; at < raw.length; at += 2) {
    const name = (raw[at] ?? '').toLowerCase();
    lists.set(name, [...(lists.get(name) ?? []), raw[at + 1] ?? '']);
  }
  return lists;
}
