import { CONTEXT_HEADER } from './context/context.ts';
import { isOurs, plainName } from './own-headers.ts';

/** Hop-by-hop headers, which apply to one connection only (RFC 9110, 7.6.1). */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
];

/** Credentials stay here, and so do the client's claims about where it comes from. */
const STAYS = new Set([
  ...HOP_BY_HOP,
  'authorization',
  'x-api-key',
  'cookie',
  'x-csrf-token',
  'forwarded',
  'x-real-ip',
  'expect',
  'host',
  'content-length',
]);
const ANSWER_STAYS = new Set(HOP_BY_HOP);

/** The client's headers as inference gets them: unchanged, except for those that a client must not set. */
export function forwardedHeaders(raw: readonly string[], context: string): string[] {
  const ofConnection = namedByConnection(raw);
  const list: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index] ?? '';
    const plain = plainName(name);
    if (STAYS.has(plain) || ofConnection.has(plain) || isOurs(name)) continue;
    if (plain.startsWith('x-forwarded-')) continue;
    list.push(name, raw[index + 1] ?? '');
  }
  list.push(CONTEXT_HEADER, context);
  return list;
}

/** The headers of inference's response as the client gets them. */
export function answerHeaders(raw: readonly string[]): string[] {
  const list: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index] ?? '';
    if (!ANSWER_STAYS.has(name.toLowerCase())) list.push(name, raw[index + 1] ?? '');
  }
  return list;
}

function namedByConnection(raw: readonly string[]): Set<string> {
  const names = new Set<string>();
  for (let index = 0; index < raw.length; index += 2) {
    if (raw[index]?.toLowerCase() !== 'connection') continue;
    for (const each of (raw[index + 1] ?? '').split(',')) names.add(plainName(each.trim()));
  }
  return names;
}
