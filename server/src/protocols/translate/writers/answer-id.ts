/** The beginnings of answers' ids: OpenAI's, Anthropic's, OpenRouter's. */
const PREFIXES = /^(?:chatcmpl-|resp_|msg_|gen-)/;

/** The provider's id with the beginning that the client's protocol gives it; made from the request's where the provider has none. */
export function answerId(prefix: string, given: string, requestId: string): string {
  return prefix + (given === '' ? requestId : given).replace(PREFIXES, '');
}
