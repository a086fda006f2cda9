interface Entry {
  readonly id: string;
  readonly fields: readonly string[];
}

interface Pending {
  consumer: string;
  sinceMs: number;
}

interface Stream {
  entries: Entry[];
  hasGroup: boolean;
  /** The last entry that the group was given. */
  lastGiven: number;
  pending: Map<string, Pending>;
}

interface Dump {
  readonly streams: Map<string, Stream>;
  readonly shards: Map<string, number>;
  readonly serial: number;
}

/** The commands of Redis that usage streams and the index of shards need, with one consumer group. */
export interface Streams {
  /** Throws what Redis would refuse. */
  run(command: readonly string[]): unknown;
  dump(): Dump;
  /** Entries that no worker has removed. */
  length(): number;
}

export function createStreams(nowMs: () => number, from?: Dump): Streams {
  const streams = from?.streams ?? new Map<string, Stream>();
  const shards = from?.shards ?? new Map<string, number>();
  let serial = from?.serial ?? 0;

  function streamOf(name: string): Stream {
    const known = streams.get(name) ?? { entries: [], hasGroup: false, lastGiven: 0, pending: new Map() };
    streams.set(name, known);
    return known;
  }

  function groupOf(name: string): Stream {
    const stream = streams.get(name);
    if (stream?.hasGroup !== true) throw new Error('NOGROUP there is no such group');
    return stream;
  }

  function read(command: readonly string[]): unknown {
    const [consumer = '', count, name = '', position] = [command[3], command[5], command[7], command[8]];
    const stream = groupOf(name);
    const isOwn = ({ id }: Entry) => stream.pending.get(id)?.consumer === consumer;
    const isNew = ({ id }: Entry) => serialOf(id) > stream.lastGiven;
    const wanted = stream.entries.filter(position === '>' ? isNew : isOwn).slice(0, Number(count));
    if (position === '>')
      for (const { id } of wanted) {
        stream.pending.set(id, { consumer, sinceMs: nowMs() });
        stream.lastGiven = serialOf(id);
      }
    return wanted.length === 0 && position === '>' ? null : [[name, wanted.map(wire)]];
  }

  function claim([, name = '', , consumer = '', idleMs, , , count]: readonly string[]): unknown {
    const stream = groupOf(name);
    const claimed: Entry[] = [];
    for (const [id, pending] of stream.pending) {
      if (nowMs() - pending.sinceMs < Number(idleMs) || claimed.length >= Number(count)) continue;
      const entry = stream.entries.find((each) => each.id === id);
      if (entry === undefined) stream.pending.delete(id);
      else {
        stream.pending.set(id, { consumer, sinceMs: nowMs() });
        claimed.push(entry);
      }
    }
    return ['0-0', claimed.map(wire), []];
  }

  function script(command: readonly string[]): unknown {
    const [, text = '', , , ...args] = command;
    const nowS = Math.floor(nowMs() / 1_000);
    if (text.includes('ZADD')) {
      for (const prefix of args) shards.set(prefix, nowS);
      return null;
    }
    for (const [prefix, usedS] of shards) if (usedS < nowS - Number(args[0])) shards.delete(prefix);
    return [...shards.keys()];
  }

  return {
    dump: () => ({ streams, shards, serial }),
    length: () => [...streams.values()].reduce((sum, { entries }) => sum + entries.length, 0),
    run(command) {
      const [name, key = ''] = command;
      const ids = new Set(command.slice(name === 'XACK' ? 3 : 2));
      switch (name) {
        case 'XADD':
          serial += 1;
          streamOf(key).entries.push({ id: `${nowMs()}-${serial}`, fields: command.slice(3) });
          return 'OK';
        case 'XGROUP':
          if (key === 'CREATE') streamOf(command[2] ?? '').hasGroup = true;
          return 'OK';
        case 'XREADGROUP':
          return read(command);
        case 'XAUTOCLAIM':
          return claim(command);
        case 'XDEL':
          streamOf(key).entries = streamOf(key).entries.filter(({ id }) => !ids.has(id));
          return ids.size;
        case 'XACK':
          for (const id of ids) streamOf(key).pending.delete(id);
          return ids.size;
        case 'XLEN':
          return streamOf(key).entries.length;
        case 'EVAL':
          return script(command);
        default:
          throw new Error(`ERR the simulation has no ${name}`);
      }
    },
  };
}

/** Later entries have higher serials, whatever the clock does. */
function serialOf(id: string): number {
  return Number(id.split('-')[1]);
}

function wire({ id, fields }: Entry): unknown {
  return [id, [...fields]];
}
