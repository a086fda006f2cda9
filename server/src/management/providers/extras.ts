import type { Provider } from '@relay/contract';
import { countWords } from '@relay/contract/words';
import { invalidField } from '../resources/refusals.ts';
import { isHeaderName, isReservedHeader } from '../resources/upstream-address.ts';

type Extras = Readonly<Record<string, string>> | null;

const NAMES_MAX = 20;
const NAME_CHARACTERS_MAX = 100;
const CHARACTERS_MAX = 4_096;

/** Headers in which credentials are sent. Extra headers are shown to everyone who may read providers. */
const CREDENTIAL =
  /^(?:authorization|(?:x-)?(?:[\w-]+-)?api-key|x-auth-token|x-amz-security-token|ocp-apim-subscription-key)$/i;
/** What an AWS signature brings along. */
const SIGNED: ReadonlySet<string> = new Set(['x-amz-date', 'x-amz-content-sha256']);
/** What a header may hold. */
const VISIBLE = /^[\x20-\x7e]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** Null when there are none. Throws 400 for what Relay does not send. */
export function checkedHeaders(
  extras: Extras,
  { auth_mode, auth_header_name }: Pick<Provider, 'auth_mode' | 'auth_header_name'>,
): Extras {
  const param = 'extra_headers';
  const authHeader = auth_mode === 'header_static' ? auth_header_name?.toLowerCase() : undefined;
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(extras ?? {})) {
    const lower = name.toLowerCase();
    if (!isHeaderName(name))
      throw invalidField(param, `${param} has a name that is not a valid header name.`);
    if (isReservedHeader(lower) || (auth_mode === 'aws_sigv4' && SIGNED.has(lower)))
      throw invalidField(param, `${param} must not set ${lower}: Relay sets that header itself.`);
    if (lower === authHeader || CREDENTIAL.test(lower))
      throw invalidField(param, `${param} must not set ${lower}: store a credential instead.`);
    if (seen.has(lower)) throw invalidField(param, `${param} contains ${lower} twice.`);
    if (!VISIBLE.test(value) || value.trim() !== value)
      throw invalidField(
        param,
        `${param}.${name} must be visible ASCII characters, without leading or trailing spaces.`,
      );
    seen.add(lower);
  }
  return bounded(param, extras);
}

/** Null when there are none. Values are encoded when they are sent. */
export function checkedQuery(extras: Extras): Extras {
  const param = 'extra_query';
  for (const [name, value] of Object.entries(extras ?? {})) {
    if (name === '') throw invalidField(param, `${param} has a parameter without a name.`);
    if (CONTROL.test(name) || CONTROL.test(value) || !`${name}${value}`.isWellFormed())
      throw invalidField(param, `${param} must not contain control characters or unpaired surrogates.`);
  }
  return bounded(param, extras);
}

function bounded(param: string, extras: Extras): Extras {
  const names = Object.keys(extras ?? {});
  if (extras === null || names.length === 0) return null;
  if (names.length > NAMES_MAX) throw invalidField(param, `${param} must have at most ${NAMES_MAX} names.`);
  if (names.some((name) => name.length > NAME_CHARACTERS_MAX))
    throw invalidField(param, `Names in ${param} must have at most ${NAME_CHARACTERS_MAX} characters.`);
  if (Object.entries(extras).flat().join('').length > CHARACTERS_MAX)
    throw invalidField(
      param,
      `${param} must have at most ${countWords(CHARACTERS_MAX)} characters in total.`,
    );
  return extras;
}
