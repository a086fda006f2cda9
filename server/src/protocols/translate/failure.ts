const WHAT_LENGTH_MAX = 80;

/** Why there is no answer. */
export interface Failure {
  /** In the word of the provider, or of Messages. Null when it named none: the status decides. */
  readonly type: string | null;
  readonly message: string;
  /** The provider's own code, and the field that it names. */
  readonly code?: string | null;
  readonly param?: string | null;
  /** An error in a 200 may say the status that it should have had. */
  readonly status?: number;
  /** What is wrong with the answer, after "the response is invalid:"; only where the words are Relay's, so that they may be told. */
  readonly why?: string;
}

/** What the provider said has no words in the client's protocol. */
export function untranslatable(what: string): Failure {
  const shown = shortened(what, WHAT_LENGTH_MAX);
  return {
    type: 'api_error',
    message: `The provider's response has ${shown}, which cannot be translated.`,
    why: `it has ${shown}, which cannot be translated`,
  };
}

/** Part of it may be the provider's. */
export function shortened(text: string, lengthMax: number): string {
  const clean = text.replaceAll(/\p{Cc}+/gu, ' ').trim();
  return clean.length <= lengthMax ? clean : `${clean.slice(0, lengthMax - 1).toWellFormed()}…`;
}
