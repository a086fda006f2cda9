import { parseObject } from '../../kit/json-value.ts';
import type { AnswerTranslator } from '../../protocols/translate/answer-translator.ts';
import type { Translation } from '../../protocols/translate/translation.ts';
import { type AttemptResult, isFailure, type UpstreamAnswer } from '../exchange.ts';
import { withBody } from '../with-body.ts';
import { decodeAnswer } from './decode-answer.ts';

/** A complete 2xx in the client's words; a failure when it cannot be said in them. Other results stay as they are. */
export async function translateWhole(
  result: AttemptResult,
  translator: AnswerTranslator,
): Promise<AttemptResult> {
  if (result.kind !== 'answer' || isFailure(result.answer.status)) return result;
  const said = translator.whole(await parsed(result.answer));
  const { failure } = translator;
  if (failure === null) return { ...result, answer: withBody(result.answer, said) };
  const why = 'it cannot be translated';
  // The message may quote the provider, which the client's error must not.
  const fault = { code: 'upstream_invalid_response', why, internal: failure.message } as const;
  return { kind: 'failure', fault, held: null };
}

/** A provider's own error in the client's words, where it has the shape of one. */
export async function translateError(
  result: AttemptResult,
  translation: Translation,
): Promise<AttemptResult> {
  if (result.kind !== 'answer' || !isFailure(result.answer.status)) return result;
  const error = await parsed(result.answer);
  const said = error === null ? null : translation.error(error, result.answer.status);
  return said === null ? result : { ...result, answer: withBody(result.answer, said) };
}

/** Null for what is not a JSON object, or has an encoding that Relay does not know. */
async function parsed(answer: UpstreamAnswer): Promise<unknown> {
  const decoded = await decodeAnswer(answer);
  return decoded === null ? null : parseObject(decoded.toString('utf8'));
}
