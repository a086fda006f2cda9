import type { HeaderRules } from '../protocol.ts';

const VERSION = 'anthropic-version';
/** The version that every provider of this API knows; a probe is the same in the later ones. */
const OWN_VERSION = '2023-06-01';

/** Clients choose version and features with `anthropic-version`, `anthropic-beta` and others, so all such headers are passed on. */
export const anthropicHeaders: HeaderRules = {
  keys: ['x-api-key'],
  forwarded: [],
  forwardedPrefix: 'anthropic-',
  own: [VERSION, OWN_VERSION],
  mark: VERSION,
  requestIds: ['request-id'],
};
