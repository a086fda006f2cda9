import type { Health } from '@relay/contract';
import { formatCount } from '../../format/numbers.ts';
import { healthOrder } from '../../parts/health-order.ts';
import { text } from '../../text/index.ts';

const words = text.home;

/** "1 down · 2 idle · 4 healthy". Says that all are healthy only when requests have shown it. */
export function healthCounts(states: readonly Health[]): string {
  if (states.length > 0 && states.every((health) => health === 'healthy'))
    return words.allHealthy(states.length);
  return healthOrder
    .map((health) => [health, states.filter((each) => each === health).length] as const)
    .filter(([, count]) => count > 0)
    .map(([health, count]) => words.healthCounts[health](formatCount(count)))
    .join(' · ');
}
