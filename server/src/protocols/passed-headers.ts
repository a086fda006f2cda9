import { headersToProvider, type WireProtocol } from '@relay/contract';
import type { HeaderRules } from './protocol.ts';

/** The client's headers that go with a request that is not translated, besides those of every request. */
export function passedHeaders(protocol: WireProtocol): Pick<HeaderRules, 'forwarded' | 'forwardedPrefix'> {
  const names = headersToProvider.filter(({ only }) => only === protocol).map(({ name }) => name);
  const prefix = names.find((name) => name.endsWith('*'));
  return {
    forwarded: names.filter((name) => name !== prefix),
    forwardedPrefix: prefix?.slice(0, -1) ?? null,
  };
}
