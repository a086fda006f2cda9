import type { MemberSpan } from '../../kit/json-members.ts';
import { isObject } from '../../kit/json-value.ts';
import type { Steps } from '../../kit/slices.ts';
import { foldedName, type InputMembers } from '../estimate-input.ts';
import { countText } from './count-text.ts';
import { imageTokensMax, isTestedModel } from './tested-models.ts';

/** Why nothing in a request bounds its input. */
export type UnboundedReason =
  /** The model reads what the provider stores or fetches: a file, an earlier response, a prompt, an image by its address. */
  | 'remote_content'
  /** A document or sound. Its size says nothing about its tokens. */
  | 'file'
  /** An image, for a model of which Relay does not know how many tokens an image has at most. */
  | 'image'
  /** The provider runs tools by itself, and the model reads what they return. */
  | 'hosted_tools';

/** What bounds the input of a request, for models of any kind. */
export interface InputBound {
  /** Tokens of all text by the tokenizers that Relay tests, and by any other. */
  readonly testedTokens: number;
  readonly otherTokens: number;
  /** Images that are in the request, and the member they are in. */
  readonly images: number;
  readonly imageField: string;
  readonly unbounded: Unbounded | null;
}

/** What lets the model read more than the request has. */
export interface Unbounded {
  readonly reason: UnboundedReason;
  /** The member of the request that does. */
  readonly field: string;
}

/** Of an operation that providers count for nothing. */
export const NO_INPUT: InputBound = {
  testedTokens: 0,
  otherTokens: 0,
  images: 0,
  imageField: '',
  unbounded: null,
};

export type InputAtMost = { readonly tokens: number } | { readonly unbounded: Unbounded };

/** What providers put around a conversation: the begin of a text, the turn of the model, the date, a default instruction. */
const FRAME_TOKENS = 128;
/** What they add where there are tools. The largest known is below 700. */
const TOOLS_FRAME_TOKENS = 1_000;
/** A setting that the model does not read may name something that it does. No name is longer. */
const SETTING_TOKENS_MAX = 128;
/** What is parsed to see whose tools they are. A request with more is not bounded. */
const TOOLS_BYTES_MAX = 1024 * 1024;

const TOOLS = new Set(['tools', 'functions']);
/** Tools that the client runs. Those of Messages need not say what they are. */
const OWN_TOOLS = new Set<unknown>([undefined, null, 'function', 'custom']);
/** Members of compatible providers by which the model reads more than the request has, or less plainly. */
const HOSTED = new Set([
  'cached_content',
  'chat_template',
  'data_sources',
  'enable_search',
  'extra_body',
  'mcp_servers',
  'plugins',
  'search_parameters',
  'web_search',
]);

/** The most tokens that the model with this name at its provider reads. */
export function inputAtMost(bound: InputBound, model: string): InputAtMost {
  const { testedTokens, otherTokens, images, imageField, unbounded } = bound;
  if (unbounded !== null) return { unbounded };
  const text = isTestedModel(model) ? testedTokens : otherTokens;
  if (images === 0) return { tokens: text };
  const perImage = imageTokensMax(model);
  return perImage === null
    ? { unbounded: { reason: 'image', field: imageField } }
    : { tokens: text + images * perImage };
}

/**
 * Reads all bytes of the request once more, which an estimate does not: only a request under a hard limit has to pay for it. Whatever is not
 * known to stay unread counts with all its bytes.
 */
export function* boundInput(
  bytes: Buffer,
  members: readonly MemberSpan[],
  named: InputMembers,
): Steps<InputBound> {
  let testedTokens = FRAME_TOKENS;
  let otherTokens = FRAME_TOKENS;
  let images = 0;
  let imageField = '';
  for (const member of members) {
    const name = foldedName(member.name);
    const reason = unboundedBy(bytes, member, name, named);
    if (reason !== null) return { ...NO_INPUT, unbounded: { reason, field: member.name } };
    const imagesHere = named.conversation.has(name) ? (member.media?.images ?? 0) : 0;
    if (imagesHere > 0) imageField = member.name;
    images += imagesHere;
    const text = yield* memberText(bytes, member, name, named);
    testedTokens += text.tokens;
    otherTokens += text.bytes;
  }
  return { testedTokens, otherTokens, images, imageField, unbounded: null };
}

function* memberText(
  bytes: Buffer,
  { start, end, media }: MemberSpan,
  name: string,
  named: InputMembers,
): Steps<{ readonly tokens: number; readonly bytes: number }> {
  const size = end - start;
  if (named.settings.has(name)) return same(Math.min(size, SETTING_TOKENS_MAX));
  // Where the images lie is not known here, so that all the rest counts as bytes.
  if (named.conversation.has(name) && media !== null && media.imageBytes > 0)
    return same(size - media.imageBytes);
  const text = yield* countText(bytes, start, end);
  const frame = TOOLS.has(name) ? TOOLS_FRAME_TOKENS : 0;
  return { tokens: text.tokens + frame, bytes: text.bytes + frame };
}

function same(tokens: number): { readonly tokens: number; readonly bytes: number } {
  return { tokens, bytes: tokens };
}

function unboundedBy(
  bytes: Buffer,
  member: MemberSpan,
  name: string,
  named: InputMembers,
): UnboundedReason | null {
  const isGiven = member.values > 1 || member.textBytes > 0;
  if (isGiven && named.remote.has(name)) return 'remote_content';
  if (HOSTED.has(name) && bytes.toString('latin1', member.start, member.end) !== 'null')
    return 'hosted_tools';
  if (TOOLS.has(name) && !areOwnTools(bytes, member)) return 'hosted_tools';
  const { media } = member;
  if (media === null || !named.conversation.has(name)) return null;
  if (media.remote > 0 || media.links > 0) return 'remote_content';
  return media.items > media.images ? 'file' : null;
}

function areOwnTools(bytes: Buffer, { start, end }: MemberSpan): boolean {
  if (end - start > TOOLS_BYTES_MAX) return false;
  const tools = parsed(bytes.toString('utf8', start, end));
  if (!Array.isArray(tools)) return tools === null;
  return tools.every((tool: unknown) => isObject(tool) && OWN_TOOLS.has(tool['type']));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
