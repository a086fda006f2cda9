import { passableText } from '../../domain/upstream-text.ts';
import { parseObjectKeeping } from '../../kit/json-source.ts';
import type { AnswerTranslator } from '../../protocols/translate/answer-translator.ts';
import { errorBody } from '../../protocols/translate/error-shapes.ts';
import { failureOfBody, REPORTED_STATUS } from '../../protocols/translate/provider-failure.ts';
import type { Translation } from '../../protocols/translate/translation.ts';
import { type AttemptResult, isFailure, type UpstreamAnswer } from '../exchange.ts';
import { asEventStream, withBody } from '../with-body.ts';
import { decodeAnswer } from './decode-answer.ts';

const INVALID = 'upstream_invalid_response';

interface Asked {
  readonly streaming: boolean;
  /** The provider's credential, which no reason may repeat. */
  readonly secret: string | null;
}

/**
 * A complete 2xx in the client's words; a failure when it cannot be said in them. A client that asked for a stream gets one, because it
 * would read nothing else. Other results stay as they are.
 */
export async function translateWhole(
  result: AttemptResult,
  translator: AnswerTranslator,
  { streaming, secret }: Asked,
): Promise<AttemptResult> {
  if (result.kind !== 'answer' || isFailure(result.answer.status)) return result;
  const text = await textOf(result.answer);
  const answer = text === null ? null : parseObjectKeeping(text, translator.sources);
  const said = streaming
    ? asEventStream(result.answer, translator.wholeAsStream(answer))
    : withBody(result.answer, translator.whole(answer));
  const { failure } = translator;
  if (failure === null) return { ...result, answer: said };
  const { metered } = result;
  if (failure.why !== undefined)
    return {
      kind: 'failure',
      fault: { code: INVALID, why: passableText(failure.why, secret) },
      held: null,
      metered,
    };
  const why = 'the response reports an error';
  const head = { ...result.answer, status: failure.status ?? REPORTED_STATUS };
  const held = withBody(head, translator.error(failure, head.status));
  return { kind: 'failure', fault: { code: INVALID, why, internal: failure.message }, held, metered };
}

/** A provider's own error in the client's words, whatever shape it has. */
export async function translateError(
  result: AttemptResult,
  { client }: Translation,
  requestId: string,
): Promise<AttemptResult> {
  if (result.kind !== 'answer' || !isFailure(result.answer.status)) return result;
  const { status } = result.answer;
  const text = await textOf(result.answer);
  if (text === null) return result;
  const said = errorBody(client, failureOfBody(text, status), { status, requestId });
  return { ...result, answer: withBody(result.answer, said) };
}

/** Null for what has an encoding that Relay does not know. */
async function textOf(answer: UpstreamAnswer): Promise<string | null> {
  return (await decodeAnswer(answer))?.toString('utf8') ?? null;
}
