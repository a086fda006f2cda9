import type { Tone } from '../output/table.ts';

export function healthTone(health: string): Tone {
  if (health === 'healthy') return 'good';
  return health === 'down' ? 'bad' : 'warn';
}
