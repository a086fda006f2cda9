import { cutConnection, drained, type Exchange, pause, turn } from './exchange.ts';
import type { Fault } from './fault.ts';
import type { Outcome } from './request-log.ts';

/** Writes body bytes the way a fault asks for; every method says whether the connection is still there. */
export interface ByteWriter {
  /** Returns synchronously unless it has to wait, which keeps plain streams cheap. */
  write(bytes: Buffer): boolean | Promise<boolean>;
  /** Writes the last bytes and ends the body. The outcome is settled before the very last write. */
  end(bytes: Buffer, outcome: Outcome): Promise<void>;
  /** Writes what splitting has held back. */
  flush(): Promise<boolean>;
}

const oddSizes = [1, 7, 3, 31, 2, 13, 61, 5, 17];
const trailerValue = 'the-end';

export function createByteWriter(exchange: Exchange, fault: Fault): ByteWriter {
  const { res, entry } = exchange;
  const byByte = fault.oneChunkPerByte === true || fault.dripMs !== undefined;
  const shaped = byByte || fault.splitFrames === true || fault.cutAfterBytes !== undefined;
  let held: Buffer = Buffer.alloc(0);
  let turns = 0;

  function pieceOf(bytes: Buffer): number {
    if (byByte) return 1;
    if (fault.splitFrames === true) return oddSizes[turns % oddSizes.length] ?? 1;
    return bytes.length;
  }

  async function afterPiece(room: boolean): Promise<void> {
    turns += 1;
    if (!room) await drained(exchange);
    if (fault.dripMs !== undefined) await pause(exchange, fault.dripMs);
    else if (byByte || fault.splitFrames === true) await turn();
  }

  /** Sends all pieces but a last one that is too short (splitting) or that the caller keeps back (`keepLast`). */
  async function send(given: Buffer, keepLast: boolean): Promise<Buffer | null> {
    let rest = held.length > 0 ? Buffer.concat([held, given]) : given;
    held = Buffer.alloc(0);
    while (rest.length > 0) {
      if (exchange.closed) return null;
      const size = pieceOf(rest);
      if (rest.length < size || (keepLast && rest.length === size)) break;
      const room = res.write(rest.subarray(0, size));
      entry.bytesSent += size;
      rest = rest.subarray(size);
      await afterPiece(room);
    }
    return exchange.closed ? null : rest;
  }

  /** Handles `cutAfterBytes`; true when the connection was cut within these bytes. */
  async function cutWithin(bytes: Buffer): Promise<boolean> {
    if (fault.cutAfterBytes === undefined) return false;
    const room = fault.cutAfterBytes - entry.bytesSent - held.length;
    if (bytes.length < room) return false;
    const rest = await send(bytes.subarray(0, Math.max(0, room)), false);
    if (rest === null) return true;
    if (rest.length > 0) res.write(rest);
    else res.flushHeaders();
    entry.bytesSent += rest.length;
    await cutConnection(exchange, fault.resetOnCut === true);
    return true;
  }

  async function writeShaped(bytes: Buffer): Promise<boolean> {
    if (exchange.closed || (await cutWithin(bytes))) return false;
    const rest = await send(bytes, false);
    if (rest === null) return false;
    held = rest;
    return true;
  }

  return {
    write(bytes) {
      if (shaped) return writeShaped(bytes);
      if (exchange.closed) return false;
      entry.bytesSent += bytes.length;
      return res.write(bytes) || drained(exchange).then(() => !exchange.closed);
    },
    async flush() {
      if (held.length > 0 && !exchange.closed) {
        const room = res.write(held);
        entry.bytesSent += held.length;
        held = Buffer.alloc(0);
        await afterPiece(room);
      }
      return !exchange.closed;
    },
    async end(bytes, outcome) {
      if (exchange.closed || (await cutWithin(bytes))) return;
      const last = await send(bytes, true);
      if (last === null) return;
      entry.bytesSent += last.length;
      if (fault.wrongContentLength !== undefined && fault.wrongContentLength !== false) {
        if (last.length > 0) res.write(last);
        await cutConnection(exchange, fault.resetOnCut === true);
        return;
      }
      if (fault.trailers === true) res.addTrailers({ 'x-sim-trailer': trailerValue });
      exchange.settle(outcome);
      res.end(last);
    },
  };
}
