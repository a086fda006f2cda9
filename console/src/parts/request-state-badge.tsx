import type { RequestLogEntry } from '@relay/contract';
import { text } from '../text/index.ts';
import type { Tone } from '../ui/badge.tsx';
import { Signal } from '../ui/signal.tsx';

export const stateTones: Record<RequestLogEntry['state'], Tone> = {
  completed: 'good',
  failed: 'bad',
  // The client went away: nothing to mend here.
  cancelled: 'neutral',
};

export function RequestStateBadge({ state }: { readonly state: RequestLogEntry['state'] }) {
  return <Signal tone={stateTones[state]}>{text.requests.states[state]}</Signal>;
}
