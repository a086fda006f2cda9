/** One event of a stream, with its lines joined. */
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
  readonly id: string | null;
}

/** Takes a stream of server-sent events apart, wherever the network has cut it. */
export function createSseReader(): { push(text: string): ServerEvent[] } {
  let rest = '';
  return {
    push(text) {
      rest += text;
      const events: ServerEvent[] = [];
      for (;;) {
        const end = /\r?\n\r?\n/.exec(rest);
        if (end === null) return events;
        const event = eventOf(rest.slice(0, end.index));
        rest = rest.slice(end.index + end[0].length);
        if (event !== null) events.push(event);
      }
    },
  };
}

function eventOf(block: string): ServerEvent | null {
  let event = 'message';
  let id: string | null = null;
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const colon = line.indexOf(':');
    // A line that begins with a colon is a comment, which keeps the connection open.
    if (colon === 0) continue;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'data') data.push(value);
    else if (name === 'event') event = value;
    else if (name === 'id') id = value;
  }
  return data.length === 0 ? null : { event, data: data.join('\n'), id };
}
