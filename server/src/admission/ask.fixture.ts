import type { AdmissionAsk, LineListener } from './engine.ts';

/** For tests: who asks, where it does not matter. */
export const SOMEBODY: Pick<AdmissionAsk, 'caller' | 'priority' | 'mixedClasses' | 'configVersion'> = {
  caller: 'key',
  priority: 'standard',
  mixedClasses: false,
  configVersion: 1,
};

/** For tests in which no request waits. */
export const NOBODY: LineListener = {
  released: () => undefined,
  next: () => undefined,
  missed: () => undefined,
};
