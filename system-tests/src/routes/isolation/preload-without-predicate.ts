// Loaded into a server process before anything else: takes the organization out of every condition of every statement
// that works for one organization, as if all of those queries had forgotten it. Statements that work for the deployment
// (doors, snapshots, worker) are left alone, because nothing stands behind them. It changes the bytes on their way to
// PostgreSQL, because the package holds its own copy of the client.
import { Socket } from 'node:net';

/** The server sets the role and organization of a connection as it begins a transaction, with which they end. */
const BEGINS = /^\s*(?:begin|start transaction)\b.*set_config\('role', 'relay_app'/is;
const ENDS = /^\s*(?:commit|rollback)\s*$/i;
/** `"organization_id" = $1`, `member.organization_id = $2`; the parameter stays in use, or PostgreSQL would not know its type. */
const PREDICATE = /(?:"?\w+"?\.)?"?organization_id"? = \$(\d+)(?!\d)/g;
const CHANGES_OR_READS = /^\s*(?:select|update|delete|with)\b/i;

// Both begin with one byte for the type and four for the length. A Parse then has the name of the statement, ended by a zero.
const QUERY = 'Q'.charCodeAt(0);
const PARSE = 'P'.charCodeAt(0);
const HEAD_BYTES = 5;

const confined = new WeakSet<Socket>();
const prototype = Socket.prototype as { write: (this: Socket, ...args: unknown[]) => boolean };
const { write } = prototype;

prototype.write = function (data, ...rest) {
  return write.call(this, Buffer.isBuffer(data) ? changed(this, data) : data, ...rest);
};

/** The statement keeps its length, so that the rest of the message stays as it is. */
function changed(socket: Socket, message: Buffer): Buffer {
  if (message[0] !== QUERY && message[0] !== PARSE) return message;
  const start = message[0] === QUERY ? HEAD_BYTES : message.indexOf(0, HEAD_BYTES) + 1;
  const end = message.indexOf(0, start);
  const text = message.toString('latin1', start, end);
  if (BEGINS.test(text)) confined.add(socket);
  if (ENDS.test(text)) confined.delete(socket);
  if (!confined.has(socket) || !CHANGES_OR_READS.test(text)) return message;
  const without = text.replaceAll(PREDICATE, (predicate, parameter: string) =>
    `$${parameter}::uuid is not null`.padEnd(predicate.length),
  );
  return Buffer.concat([message.subarray(0, start), Buffer.from(without, 'latin1'), message.subarray(end)]);
}
