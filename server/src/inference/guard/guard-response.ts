import type { Guardrail } from '../../domain/guardrails/guardrail.ts';
import { RelayError } from '../../domain/relay-error.ts';
import type { FairSlices } from '../../kit/fair-slices.ts';
import { scanSteps } from '../../kit/json-members.ts';
import type { Exchange, RoutedRequest, UpstreamAnswer } from '../exchange.ts';
import { withBody } from '../with-body.ts';
import { ask, type GuardDeps, refusalOf } from './ask.ts';
import { isInspectable, showAnswer, textRules } from './shown.ts';

/** Deeper than any answer, and with more members. */
const DEPTH_MAX = 1_000;
const MEMBERS_MAX = 10_000;

export type GuardedAnswer =
  | { readonly kind: 'clear'; readonly answer: UpstreamAnswer }
  | { readonly kind: 'refused'; readonly error: RelayError }
  | 'stopped';

/**
 * Asks guardrails about a complete answer before any of it is sent. Answers 403 and 503, and 502 for an answer that is not JSON. After a
 * replacement, the following guardrails see the replaced answer. `decoded` is the body without its encoding; null when the encoding is unknown.
 */
export async function guardResponse(
  deps: GuardDeps & { readonly slices: FairSlices },
  exchange: Exchange,
  routed: RoutedRequest,
  guardrails: readonly Guardrail[],
  answer: UpstreamAnswer,
  decoded: Buffer | null,
): Promise<GuardedAnswer> {
  let said: unknown;
  try {
    said = await parseInspectable(deps, exchange, decoded ?? Buffer.alloc(0));
  } catch (cause) {
    const internal = 'the response can’t be read, so no guardrail can check it';
    return { kind: 'refused', error: new RelayError('upstream_invalid_response', { internal, cause }) };
  }
  let replaced = false;
  for (const guardrail of guardrails) {
    const shown = showAnswer(exchange, routed, said);
    const heard = await ask(deps, exchange, guardrail, shown);
    if (heard === null) return 'stopped';
    const error = refusalOf(guardrail, 'post_response', heard);
    if (error !== null) return { kind: 'refused', error };
    if (heard.verdict !== 'replaced') continue;
    said = textRules(exchange).replace(said, heard.rule?.replacement ?? '');
    replaced = true;
  }
  return { kind: 'clear', answer: replaced ? withBody(answer, said) : answer };
}

/** Throws for an answer that is not a JSON object, or that would take too long to build. */
async function parseInspectable(
  { slices }: { readonly slices: FairSlices },
  { caller }: Exchange,
  bytes: Buffer,
): Promise<unknown> {
  const spans = await slices.run(caller.organizationId, scanSteps(bytes, DEPTH_MAX, MEMBERS_MAX));
  if (typeof spans === 'string' || !isInspectable(spans.members)) throw new RangeError('not inspectable');
  return JSON.parse(bytes.toString('utf8'));
}
