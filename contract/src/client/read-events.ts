import { countWords } from '../words/count.ts';

/** One server-sent event, with its data lines joined. */
export interface ServerEvent {
  /** `message` where the stream names no event. */
  readonly event: string;
  readonly data: string;
  /** The ID of this event; null where the stream sends none. */
  readonly id: string | null;
}

export interface EventLimits {
  /** The most characters one event may have, so that an endless line cannot fill the memory. */
  readonly eventCharsMax: number;
}

const LIMITS: EventLimits = { eventCharsMax: 16 * 1024 * 1024 };

/**
 * Parses a stream of server-sent events chunk by chunk. A chunk may end anywhere: inside a character, between the two
 * characters of a line end, or inside a field. Comments and the `retry` field are ignored.
 */
export function createEventParser({ eventCharsMax }: EventLimits = LIMITS) {
  const decoder = new TextDecoder();
  let line = '';
  let endsWithCr = false;
  let chars = 0;
  let fields = noFields();

  const endLine = (text: string): ServerEvent | null => {
    if (text !== '') {
      addField(fields, text);
      return null;
    }
    const { event, id, data } = fields;
    fields = noFields();
    chars = 0;
    return data.length === 0 ? null : { event: event === '' ? 'message' : event, data: data.join('\n'), id };
  };

  return {
    push(chunk: Uint8Array): ServerEvent[] {
      const decoded = decoder.decode(chunk, { stream: true });
      if (decoded === '') return [];
      const text = endsWithCr && decoded.startsWith('\n') ? decoded.slice(1) : decoded;
      endsWithCr = decoded.endsWith('\r');
      const events: ServerEvent[] = [];
      const [first = '', ...others] = text.split(/\r\n|\n|\r/);
      line += first;
      chars += first.length;
      for (const next of others) {
        const event = endLine(line);
        if (event !== null) events.push(event);
        line = next;
        chars += next.length;
      }
      if (chars > eventCharsMax)
        throw new Error(`The stream sent an event of more than ${countWords(eventCharsMax)} characters.`);
      return events;
    },
  };
}

interface Fields {
  event: string;
  id: string | null;
  readonly data: string[];
}

function noFields(): Fields {
  return { event: '', id: null, data: [] };
}

function addField(fields: Fields, line: string): void {
  const colon = line.indexOf(':');
  const name = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
  if (name === 'data') fields.data.push(value);
  else if (name === 'event') fields.event = value;
  // The standard ignores an ID with a NUL character, because it could not be sent back in a header.
  else if (name === 'id' && !value.includes('\0')) fields.id = value;
}

/** The events of each chunk of the network together, so that a page can render once for all of them. May be empty. */
export async function* readEventBatches(
  body: ReadableStream<Uint8Array> | null,
): AsyncGenerator<readonly ServerEvent[]> {
  if (body === null) return;
  const parser = createEventParser();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield parser.push(value);
    }
  } finally {
    // A consumer that stops early closes the connection. After the end, or on a broken stream, this does nothing.
    await reader.cancel().catch(() => undefined);
  }
}

export async function* readEvents(body: ReadableStream<Uint8Array> | null): AsyncGenerator<ServerEvent> {
  for await (const events of readEventBatches(body)) yield* events;
}
