/** A message as a mail client would show it. */
export interface Message {
  readonly from: string;
  /** The envelope's recipients. */
  readonly to: readonly string[];
  readonly raw: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly secure: boolean;
  readonly user: string | null;
}

export function readMessage(received: {
  readonly from: string;
  readonly to: readonly string[];
  readonly raw: string;
  readonly secure: boolean;
  readonly user: string | null;
}): Message {
  const { headers, body } = splitHead(received.raw);
  const boundary = /boundary="([^"]+)"/.exec(headers.get('content-type') ?? '')?.[1] ?? '';
  const parts = body.split(`--${boundary}`).map((part) => splitHead(part.trimStart()));
  const partOf = (type: string) => {
    const part = parts.find((each) => each.headers.get('content-type')?.startsWith(type));
    return part === undefined
      ? ''
      : decoded(part.body, part.headers.get('content-transfer-encoding') ?? '7bit');
  };
  return {
    ...received,
    headers,
    subject: wordsOf(headers.get('subject') ?? ''),
    text: partOf('text/plain'),
    html: partOf('text/html'),
  };
}

function splitHead(text: string): { headers: Map<string, string>; body: string } {
  const at = text.indexOf('\r\n\r\n');
  const head = (at < 0 ? text : text.slice(0, at)).replaceAll(/\r\n[ \t]+/g, ' ');
  const headers = new Map<string, string>();
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  return { headers, body: at < 0 ? '' : text.slice(at + 4) };
}

function decoded(body: string, encoding: string): string {
  const text = body.replace(/\r\n$/, '');
  if (encoding === 'base64') return Buffer.from(text, 'base64').toString();
  if (encoding === 'quoted-printable') return quotedPrintable(text.replaceAll('=\r\n', ''));
  return text.replaceAll('\r\n', '\n');
}

function quotedPrintable(text: string): string {
  const bytes = text.replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1').toString().replaceAll('\r\n', '\n');
}

/** Encoded words of a header, RFC 2047. */
function wordsOf(text: string): string {
  return text.replaceAll(/=\?utf-8\?([BQ])\?([^?]*)\?=\s*/gi, (_, kind: string, word: string) =>
    kind.toUpperCase() === 'B'
      ? Buffer.from(word, 'base64').toString()
      : quotedPrintable(word.replaceAll('_', ' ')),
  );
}
