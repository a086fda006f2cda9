import type { GuardrailStage } from '../../domain/guardrails/verdict.ts';
import { RelayError } from '../../domain/relay-error.ts';
import type { InspectedText, TextRules } from '../../protocols/protocol.ts';
import type { InferenceBody } from '../../protocols/request-body.ts';
import type { Exchange, RoutedRequest, Shown } from '../exchange.ts';

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/** Answers 400 `invalid_request` for a body with duplicate members. */
export function showRequest(exchange: Exchange, routed: RoutedRequest): Shown {
  const body = parseUnambiguous(routed.body);
  return shownOf(exchange, routed, 'pre_dispatch', body, textRules(exchange).ofRequest(body));
}

export function showAnswer(exchange: Exchange, routed: RoutedRequest, answer: unknown): Shown {
  return shownOf(exchange, routed, 'post_response', answer, textRules(exchange).ofAnswer(answer));
}

/** Requests of a protocol without text that guardrails can read are refused before a guardrail is asked. */
export function textRules({ protocol }: Exchange): TextRules {
  if (protocol.text !== null) return protocol.text;
  throw new RelayError('guardrail_route_kind_unsupported', { param: 'model' });
}

function shownOf(
  exchange: Exchange,
  { body: { model }, route }: RoutedRequest,
  stage: GuardrailStage,
  body: unknown,
  { text, messages, skippedParts }: InspectedText,
): Shown {
  const { requestId, protocol } = exchange;
  const lane = route.lane?.slug ?? '';
  const { operation } = protocol;
  return { values: { text, stage, operation, model, lane, requestId, messages, body }, skippedParts };
}

/**
 * Of duplicate members some parsers take the first and some the last. The provider gets the client's bytes, so it could read
 * something other than the guardrail.
 */
function parseUnambiguous({ bytes }: InferenceBody): unknown {
  const text = bytes.toString('utf8');
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (cause) {
    // Only the structure of a large body was checked before.
    throw new RelayError('invalid_json', { message: 'The request body is not valid JSON.', cause });
  }
  if (membersOf(body) === membersIn(text)) return body;
  throw new RelayError('invalid_request', {
    message:
      'The request body has an object with the same member twice. A guardrail applies to this request, and must read what the provider reads. Send every member once.',
  });
}

/** The number of members in all objects of a value. */
function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner: unknown[] = Object.values(value);
  return inner.reduce<number>((sum, each) => sum + membersOf(each), Array.isArray(value) ? 0 : inner.length);
}

/** The number of members in a JSON text: each colon outside a string follows a member's name. */
function membersIn(json: string): number {
  let count = 0;
  let inString = false;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (inString) {
      if (code === BACKSLASH) at += 1;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) inString = true;
    else if (code === COLON) count += 1;
  }
  return count;
}
