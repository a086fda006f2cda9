import type { JsonObject } from '../../../../kit/json-value.ts';

/** A request of a Responses client, and what each pair makes of it. `input` is "Hi" when a case does not say more. */
export interface RequestCase {
  readonly name: string;
  readonly request: JsonObject;
  readonly chat: Expected;
  readonly messages: Expected;
}

/** `says`: members of the body besides the model, the greeting and the default output limit; or the field that cannot be said. */
export type Expected =
  | { readonly says: JsonObject; readonly leftOut?: readonly string[] }
  | { readonly refused: string };

const GREETING = [{ role: 'user', content: 'Hi' }];

export const chatFrame: JsonObject = { model: 'upstream', messages: GREETING };
export const messagesFrame: JsonObject = { model: 'upstream', max_tokens: 32_000, messages: GREETING };

/** The same in both pairs. */
export function both(expected: Expected): Pick<RequestCase, 'chat' | 'messages'> {
  return { chat: expected, messages: expected };
}

export function leftOut(...paths: readonly string[]): Pick<RequestCase, 'chat' | 'messages'> {
  return both({ says: {}, leftOut: paths });
}

export function refused(field: string): Pick<RequestCase, 'chat' | 'messages'> {
  return both({ refused: field });
}
