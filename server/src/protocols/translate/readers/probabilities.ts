import { isEmpty, type JsonObject, listOf, objectOf } from '../../../kit/json-value.ts';
import type { ModelEvent, TokenAlternative } from '../model-events.ts';

/** The `logprobs` of a choice. Only text has them in other protocols, so that those of a refusal are named. */
export function probabilitiesIn(logprobs: unknown): readonly ModelEvent[] {
  const { content, refusal } = objectOf(logprobs);
  const tokens = listOf(content).map((given) => {
    const entry = objectOf(given);
    return {
      ...alternative(entry),
      top_logprobs: listOf(entry['top_logprobs']).map((each) => alternative(objectOf(each))),
    };
  });
  return [
    ...(tokens.length === 0 ? [] : [{ kind: 'probabilities', tokens } as const]),
    ...(isEmpty(refusal) ? [] : [{ kind: 'left_out', what: 'logprobs.refusal' } as const]),
  ];
}

function alternative({ token, logprob, bytes }: JsonObject): TokenAlternative {
  return {
    token: String(token ?? ''),
    logprob: Number(logprob ?? 0),
    bytes: listOf(bytes).map(Number),
  };
}
