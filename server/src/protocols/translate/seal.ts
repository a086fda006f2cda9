import { hash } from 'node:crypto';
import { isObject, type JsonObject, objectOf, parseObject } from '../../kit/json-value.ts';

/*
 * What a provider wants back unchanged has no place in another protocol. It travels sealed in what clients of that protocol return as
 * they got it: thinking of Messages, reasoning items of Responses. A seal names who made its content, and is opened for no one else.
 */

/** Members of a chat's message, and of its calls by their ids. */
export interface CarriedMembers {
  readonly message?: JsonObject;
  readonly calls?: Readonly<Record<string, JsonObject>>;
}

export type Sealed =
  | { readonly kind: 'thinking'; readonly signature: string }
  | { readonly kind: 'redacted_thinking'; readonly data: string }
  /** Nothing is sealed: the text beside it is what the provider wants back. */
  | { readonly kind: 'text' }
  | { readonly kind: 'members'; readonly members: CarriedMembers };

const SEAL = 'relay-seal-2:';
/** Seals of earlier versions don't name their maker, and are not opened. */
const OLD_SEALS = ['relay-thinking-1:', 'relay-redacted-1:'];
/**
 * In place of a signature, for thinking that its provider does not want back. A client sends it back with the block, which Anthropic would
 * reject: the mark tells such a block from others.
 */
export const UNSIGNED = 'relay-unsigned';
/** What all of them begin with in a request's JSON. */
const MARK = '"relay-';
const MAKER_LENGTH = 8;

/**
 * Who can read what was made there: a signature of Claude is valid wherever Claude is offered, any other at the same host, and there
 * for models of the same vendor (`google/gemini-3-pro`).
 */
export function makerOf(host: string, upstreamModel: string): string {
  if (/\bclaude\b/i.test(upstreamModel)) return 'claude';
  const vendor = upstreamModel.slice(0, Math.max(0, upstreamModel.lastIndexOf('/')));
  return hash('sha256', `${host}/${vendor}`, 'hex').slice(0, MAKER_LENGTH);
}

export function sealed(maker: string, content: Sealed): string {
  return `${SEAL}${maker}:${content.kind}:${payloadOf(content)}`;
}

function payloadOf(content: Sealed): string {
  switch (content.kind) {
    case 'thinking':
      return content.signature;
    case 'redacted_thinking':
      return content.data;
    case 'text':
      return '';
    case 'members':
      return Buffer.from(JSON.stringify(content.members)).toString('base64url');
  }
}

/** Null for what is not a seal, and for a seal of another maker's content. */
export function unsealed(maker: string | undefined, seal: unknown): Sealed | null {
  const head = `${SEAL}${maker ?? ''}:`;
  if (maker === undefined || typeof seal !== 'string' || !seal.startsWith(head)) return null;
  const split = seal.indexOf(':', head.length);
  const payload = seal.slice(split + 1);
  switch (seal.slice(head.length, split)) {
    case 'thinking':
      return { kind: 'thinking', signature: payload };
    case 'redacted_thinking':
      return { kind: 'redacted_thinking', data: payload };
    case 'text':
      return { kind: 'text' };
    case 'members':
      return membersIn(payload);
    default:
      return null;
  }
}

function membersIn(payload: string): Sealed | null {
  const members = parseObject(Buffer.from(payload, 'base64url').toString('utf8'));
  if (members === null) return null;
  const calls = Object.entries(objectOf(members['calls'])).filter((entry): entry is [string, JsonObject] =>
    isObject(entry[1]),
  );
  return {
    kind: 'members',
    members: { message: objectOf(members['message']), calls: Object.fromEntries(calls) },
  };
}

/** Whether Relay wrote it in place of what a provider signs or encrypts. */
export function isRelays(value: unknown): boolean {
  return typeof value === 'string' && [SEAL, UNSIGNED, ...OLD_SEALS].some((mark) => value.startsWith(mark));
}

/** Whether a request may hold any of this, without parsing it. */
export function mayHoldSeals(bytes: Buffer): boolean {
  return bytes.includes(MARK);
}
