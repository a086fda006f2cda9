import type { FieldSorter } from './field-sorter.ts';
import type { ProviderProtocol } from './meanings.ts';

/* Settings that all protocols have, in the words of a provider. */

const TIERS: Readonly<Record<ProviderProtocol, Readonly<Record<string, string>>>> = {
  messages: { auto: 'auto', default: 'standard_only' },
  chat: {
    auto: 'auto',
    default: 'default',
    flex: 'flex',
    scale: 'scale',
    priority: 'priority',
    fast: 'fast',
    standard_only: 'default',
  },
};

/** A tier is how fast and how dear the same answer is. */
export function serviceTier(
  sorter: FieldSorter,
  provider: ProviderProtocol,
  tier: unknown,
): string | undefined {
  if (tier === undefined || tier === null) return undefined;
  if (typeof tier === 'string' && Object.hasOwn(TIERS[provider], tier)) return TIERS[provider][tier];
  sorter.leaveOut('service_tier');
  return undefined;
}

const EFFORTS: readonly unknown[] = ['low', 'medium', 'high', 'xhigh', 'max'];

/** `output_config.effort` of an effort of OpenAI's. Messages know no effort that is less than low. */
export function messagesEffort(sorter: FieldSorter, effort: unknown, path: string): unknown {
  if (effort === undefined || effort === null || effort === 'none') return undefined;
  if (EFFORTS.includes(effort)) return effort;
  if (effort === 'minimal') sorter.change(path, 'minimal sent as low');
  else sorter.cannotSay(path);
  return EFFORTS[0];
}
