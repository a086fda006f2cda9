import { echoesRequest } from '../../domain/request-echo.ts';
import { errorTextOf, parsed, shownText } from '../../domain/upstream-text.ts';
import type { InferenceBody } from '../../protocols/request-body.ts';
import type { UpstreamAnswer, UpstreamHead } from '../exchange.ts';
import { decodeAnswer } from './decode-answer.ts';

/** A larger request takes too long to compare with the text, so nothing is kept of the answer to it. */
const REQUEST_BYTES_MAX = 128 * 1024;

/**
 * What the request's record keeps of an answer about Relay's credential or address: the provider's message and where a redirect
 * leads. Short, without keys, and undefined when it repeats anything of the request: a record never contains prompts.
 */
export async function keptMessage(
  answer: UpstreamAnswer,
  { bytes }: InferenceBody,
  secret: string | null,
): Promise<string | undefined> {
  if (bytes.length > REQUEST_BYTES_MAX) return undefined;
  const decoded = await decodeAnswer(answer);
  const said = decoded === null ? null : errorTextOf(decoded, secret);
  const target = redirectOf(answer);
  const led = target === null ? null : shownText(`Redirects to ${target}`, secret);
  const kept = [said, led].filter((each) => each !== null).join(' ');
  if (kept === '') return undefined;
  const request = parsed(bytes);
  return echoesRequest(kept, request) || echoesRequest(unescaped(kept), request) ? undefined : kept;
}

/** Without user, query and fragment, which may contain anything of the request. */
function redirectOf({ status, headers }: UpstreamHead): string | null {
  const location = headers['location'];
  if (status >= 400 || typeof location !== 'string') return null;
  const url = URL.parse(location, 'relative://');
  if (url === null) return null;
  return url.protocol === 'relative:' ? url.pathname : `${url.protocol}//${url.host}${url.pathname}`;
}

function unescaped(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (escaped) =>
    Buffer.from(escaped.replaceAll('%', ''), 'hex').toString(),
  );
}
