import type { Guardrail } from '../../domain/guardrails/guardrail.ts';
import { RelayError } from '../../domain/relay-error.ts';
import type { Exchange, RoutedRequest, UpstreamAnswer } from '../exchange.ts';
import { ask, type GuardDeps, refusalOf } from './ask.ts';
import { showAnswer, textRules } from './shown.ts';

export type GuardedAnswer =
  | { readonly kind: 'clear'; readonly answer: UpstreamAnswer }
  | { readonly kind: 'refused'; readonly error: RelayError }
  | 'client_gone';

/**
 * Asks guardrails about a complete answer before any of it is sent. Answers 403 and 503, and 502 for an answer that is not JSON. After a
 * replacement, the following guardrails see the replaced answer. `decoded` is the body without its encoding; null when the encoding is unknown.
 */
export async function guardResponse(
  deps: GuardDeps,
  exchange: Exchange,
  routed: RoutedRequest,
  guardrails: readonly Guardrail[],
  answer: UpstreamAnswer,
  decoded: Buffer | null,
): Promise<GuardedAnswer> {
  let said: unknown;
  try {
    said = JSON.parse(decoded?.toString('utf8') ?? '');
  } catch (cause) {
    const internal = 'the answer cannot be read, so no guardrail can be shown it';
    return { kind: 'refused', error: new RelayError('upstream_invalid_response', { internal, cause }) };
  }
  let replaced = false;
  for (const guardrail of guardrails) {
    const shown = showAnswer(exchange, routed, said);
    const heard = await ask(deps, exchange, guardrail, shown);
    if (heard === null) return 'client_gone';
    const error = refusalOf(guardrail, 'post_response', heard);
    if (error !== null) return { kind: 'refused', error };
    if (heard.verdict !== 'replaced') continue;
    said = textRules(exchange).replace(said, heard.rule?.replacement ?? '');
    replaced = true;
  }
  return { kind: 'clear', answer: replaced ? withBody(answer, said) : answer };
}

/** Removes the headers that describe the original bytes. */
function withBody(answer: UpstreamAnswer, said: unknown): UpstreamAnswer {
  const {
    'content-length': _length,
    'content-encoding': _encoding,
    'content-md5': _md5,
    'content-digest': _digest,
    digest: _oldDigest,
    etag: _tag,
    ...headers
  } = answer.headers;
  return { status: answer.status, headers, body: Buffer.from(JSON.stringify(said)) };
}
