import { passedHeaders } from '../passed-headers.ts';
import type { HeaderRules } from '../protocol.ts';

const VERSION = 'anthropic-version';
/** The version that every provider of this API knows; a probe is the same in the later ones. */
const OWN_VERSION = '2023-06-01';

export const anthropicHeaders: HeaderRules = {
  keys: ['x-api-key'],
  ...passedHeaders('anthropic'),
  own: [VERSION, OWN_VERSION],
  mark: VERSION,
  requestIds: ['request-id'],
};
