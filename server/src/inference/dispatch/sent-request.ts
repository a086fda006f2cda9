import { RelayError } from '../../domain/relay-error.ts';
import type { Translated } from '../../domain/request-record.ts';
import type { Candidate } from '../../domain/routing/routing.ts';
import type { Clock } from '../../kit/clock.ts';
import { entryIn } from '../../kit/entry-in.ts';
import { writeJson } from '../../kit/json-source.ts';
import type { Passage } from '../../protocols/passage.ts';
import { quirksOf } from '../../protocols/provider-presets.ts';
import { withQuirks } from '../../protocols/splice-body.ts';
import { AnswerTranslator } from '../../protocols/translate/answer-translator.ts';
import { makerOf } from '../../protocols/translate/seal.ts';
import type { Translation } from '../../protocols/translate/translation.ts';
import { askedOf, type Exchange, type RoutedRequest } from '../exchange.ts';
import type { SentRequest } from './send-upstream.ts';

/** How the request reaches the candidate. Routing offers no candidate that it cannot reach. */
export function passageOf(exchange: Exchange, { endpoint }: Candidate): Passage {
  const passage = askedOf(exchange).passageTo(endpoint);
  if (passage !== undefined) return passage;
  throw new RelayError('internal_error', { internal: 'the candidate cannot be reached' });
}

/** What the provider is asked: the client's bytes with the upstream model, or the request in the provider's words. */
export function sentRequest(
  exchange: Exchange,
  { body }: RoutedRequest,
  { protocol, translation }: Passage,
  candidate: Candidate,
  inspected: boolean,
): SentRequest {
  const { endpoint, provider } = candidate;
  const { upstreamModel } = endpoint;
  const quirks = quirksOf(provider.presetSlug);
  const outputCap = exchange.reservation?.writtenCap ?? null;
  if (translation === null) {
    const plain = body.streaming || inspected;
    const removal = askedOf(exchange).thinkingRemoval;
    const bytes = protocol.request.forUpstream(body, upstreamModel, { quirks, removal, outputCap });
    return { protocol, body: bytes, plain, translated: false };
  }
  const said = askedOf(exchange).translated(translation, makerAt(candidate));
  if (said.kind === 'incompatible')
    throw new RelayError('internal_error', { internal: 'the request cannot be translated' });
  const { outputCapField } = protocol.request;
  const capped =
    outputCap === null || outputCapField === null ? said.body : { ...said.body, [outputCapField]: outputCap };
  const bytes = Buffer.from(writeJson({ ...withQuirks(capped, quirks), model: upstreamModel }));
  return { protocol, body: [bytes], plain: true, translated: true };
}

/** For the request's record. */
export function translatedFor(
  exchange: Exchange,
  { protocol, translation }: Passage,
  candidate: Candidate,
): { readonly translated?: Translated } {
  const quirks = quirksOf(candidate.provider.presetSlug);
  const asked = askedOf(exchange);
  if (translation !== null) {
    const leftOut = asked.leftOut(translation, quirks, makerAt(candidate));
    return { translated: { to: protocol.operation, leftOut } };
  }
  const leftOut = asked.leftOut(null, quirks);
  return leftOut.length === 0 ? {} : { translated: { to: null, leftOut } };
}

/** Says the provider's answer in the client's words; null where it is passed through. */
export function translatorFor(
  { clock }: { readonly clock: Clock },
  exchange: Exchange,
  { body }: RoutedRequest,
  translation: Translation | null,
  candidate: Candidate,
): AnswerTranslator | null {
  if (translation === null) return null;
  const { requestId } = exchange;
  const { request } = askedOf(exchange);
  const maker = makerAt(candidate);
  const nowMs = clock.nowMs();
  return new AnswerTranslator(translation, { request, model: body.model, requestId, nowMs, maker });
}

// A cache and not state: an entry depends on its candidate alone and is collected with it.
const makers = new WeakMap<Candidate, string>();

function makerAt(candidate: Candidate): string {
  return entryIn(makers, candidate, ({ origin, endpoint }) =>
    makerOf(new URL(origin).host, endpoint.upstreamModel),
  );
}
