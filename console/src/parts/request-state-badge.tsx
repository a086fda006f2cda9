import type { RequestLogEntry } from '@relay/contract';
import { text } from '../text/index.ts';
import { Badge, type Tone } from '../ui/badge.tsx';

export const stateTones: Record<RequestLogEntry['state'], Tone> = {
  completed: 'good',
  failed: 'bad',
  cancelled: 'warn',
};

export function RequestStateBadge({ state }: { readonly state: RequestLogEntry['state'] }) {
  return (
    <Badge tone={stateTones[state]} dot>
      {text.requests.states[state]}
    </Badge>
  );
}
