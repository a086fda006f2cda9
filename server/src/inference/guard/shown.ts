import { countWords } from '@relay/contract/words';
import type { GuardrailStage } from '../../domain/guardrails/verdict.ts';
import { RelayError } from '../../domain/relay-error.ts';
import { BUILT_VALUES_MAX, type MemberSpan, valuesIn } from '../../kit/json-members.ts';
import type { InspectedText, TextRules } from '../../protocols/protocol.ts';
import type { InferenceBody } from '../../protocols/request-body.ts';
import type { Exchange, RoutedRequest, Shown } from '../exchange.ts';

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
function parseUnambiguous({ bytes, members }: InferenceBody): unknown {
  if (valuesIn(members) > BUILT_VALUES_MAX)
    throw new RelayError('invalid_request', {
      message: `The request body has more than ${countWords(BUILT_VALUES_MAX)} values. A guardrail applies to this request and must read all of them. Send fewer.`,
    });
  let body: unknown;
  try {
    body = JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    // Only the structure of a large body was checked before.
    throw new RelayError('invalid_json', { message: 'The request body is not valid JSON.', cause });
  }
  const sent = members.reduce((sum, { nested }) => sum + nested, members.length);
  if (membersOf(body) === sent) return body;
  throw new RelayError('invalid_request', {
    message:
      'The request body has an object with a duplicate key. A guardrail applies to this request and must read what the provider reads. Send each key once.',
  });
}

/** Whether what is shown of an answer can be built without blocking the event loop. */
export function isInspectable(members: readonly MemberSpan[]): boolean {
  return valuesIn(members) <= BUILT_VALUES_MAX;
}

/** The number of members in all objects of a value. */
function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner: unknown[] = Object.values(value);
  return inner.reduce<number>((sum, each) => sum + membersOf(each), Array.isArray(value) ? 0 : inner.length);
}
