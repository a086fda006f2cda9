import { JsonOutline } from '../kit/json-outline.ts';

/** Members that hold the usage, the service tier, the end or the error of an answer or a frame, and the members around them. */
const KEPT_MEMBERS = new Set([
  'type',
  'error',
  'usage',
  'service_tier',
  'response',
  'message',
  'choices',
  'x_groq',
  'delta',
  'stop_reason',
]);

/** Outlines an answer or frame that is too large to hold, or incomplete. Protocols read the outline like the whole. */
export function outlineOf(textMembers: ReadonlySet<string>): JsonOutline {
  return new JsonOutline({ kept: KEPT_MEMBERS, text: textMembers });
}
