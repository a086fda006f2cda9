import type { components } from '@relay/contract/api-types';
import { dollars, milliseconds, numberText, timeText } from '../output/cells.ts';
import type { Column, Tone } from '../output/table.ts';

export type Entry = components['schemas']['RequestLogEntry'];

export const entryColumns: readonly Column<Entry>[] = [
  { title: 'arrived', value: ({ arrived_at }) => timeText(arrived_at) },
  { title: 'state', value: ({ state }) => state, tone: ({ state }) => stateTone(state) },
  { title: 'status', value: ({ http_status }) => http_status, align: 'right' },
  { title: 'model', value: ({ model }) => model, elastic: true },
  { title: 'served by', value: ({ upstream_model }) => upstream_model, elastic: true },
  { title: 'input', value: ({ input_tokens }) => numberText(input_tokens), align: 'right' },
  { title: 'output', value: ({ output_tokens }) => numberText(output_tokens), align: 'right' },
  { title: 'cost', value: ({ cost_micros }) => dollars(cost_micros), align: 'right' },
  { title: 'latency', value: ({ duration_ms }) => milliseconds(duration_ms), align: 'right' },
  { title: 'request id', value: ({ request_id }) => request_id },
];

function stateTone(state: string): Tone {
  if (state === 'completed') return 'good';
  return state === 'failed' ? 'bad' : 'quiet';
}
