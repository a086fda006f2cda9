import type { MemberSpan } from '../kit/json-members.ts';

// Four bytes a token is within a few percent of the true count for English text, at a hundredth of the
// price of tokenizing; the exact number arrives with the provider's usage.
export const BYTES_PER_TOKEN = 4;
// An image costs by its size, not by the length of its base64; this is a mid-sized one at high detail.
const TOKENS_PER_IMAGE = 765;
// Base64 has four bytes for three of a file, of which four are a token if it is text. A page of a PDF comes to about the same.
const TOKENS_PER_FILE_BYTE = 3 / 16;
// No model reads more; a scan of a few pages can be as large as a library of text.
const FILE_TOKENS_MAX = 1_000_000;
/** Members that Relay does not know count from this size on: a compatible provider may show them to the model. */
const UNKNOWN_BYTES_MIN = 1_024;

/** What the members of a protocol's request are for. Names are in lower case. */
export interface InputMembers {
  /** The conversation: the model reads it, and images and files may be in it. */
  readonly conversation: ReadonlySet<string>;
  /** Read as text, whatever it holds. */
  readonly text: ReadonlySet<string>;
  /** Not read by the model. */
  readonly settings: ReadonlySet<string>;
  /** Names content that the provider stores or fetches. */
  readonly remote: ReadonlySet<string>;
}

export interface MeasuredInput {
  readonly tokens: number;
  /** What files come to beyond the price of an image. Their size says little about their tokens, so it is a guess. */
  readonly fileTokens: number;
  /** Some of what the model reads is not in the request. */
  readonly isPartlyUnseen: boolean;
}

/**
 * Measured from the members without reading them. Names and roles count as text and stand for what a provider adds to each
 * message. Numbers are token ids, which embeddings accept: one token each, and any value is at least one where a model reads it.
 */
export function measureInput(members: readonly MemberSpan[], named: InputMembers): MeasuredInput {
  let tokens = 0;
  let fileTokens = 0;
  let textBytes = 0;
  let unknownBytes = 0;
  let isPartlyUnseen = false;
  for (const member of members) {
    const name = foldedName(member.name);
    const media = member.media ?? { items: 0, imageBytes: 0, fileBytes: 0, remote: 0 };
    const allBytes = member.textBytes + media.imageBytes + media.fileBytes;
    if (named.conversation.has(name)) {
      textBytes += member.textBytes;
      tokens += media.items * TOKENS_PER_IMAGE;
      fileTokens += Math.ceil(media.fileBytes * TOKENS_PER_FILE_BYTE);
      tokens += valueTokens(member, member.textBytes);
      isPartlyUnseen ||= media.remote > 0;
    } else if (named.text.has(name)) {
      textBytes += allBytes;
      tokens += valueTokens(member, allBytes);
    } else if (named.remote.has(name)) {
      isPartlyUnseen ||= member.values > 1 || member.textBytes > 0;
      unknownBytes += allBytes;
    } else if (!named.settings.has(name)) {
      unknownBytes += allBytes + member.scalars * BYTES_PER_TOKEN;
    }
  }
  if (unknownBytes >= UNKNOWN_BYTES_MIN) textBytes += unknownBytes;
  return {
    tokens: Math.max(1, tokens + Math.ceil(textBytes / BYTES_PER_TOKEN)),
    fileTokens: Math.min(fileTokens, FILE_TOKENS_MAX),
    isPartlyUnseen,
  };
}

/** Numbers and literals, and what is missing to a token for each value: a list of empty lists has no text, and is read all the same. */
function valueTokens({ scalars, values }: MemberSpan, textBytes: number): number {
  const counted = scalars + Math.floor(textBytes / BYTES_PER_TOKEN);
  return scalars + Math.max(0, values - 1 - counted);
}

/** Some parsers compare names without regard to case, in all of Unicode. */
export function foldedName(name: string): string {
  return name.toLowerCase().replaceAll('ſ', 's');
}
