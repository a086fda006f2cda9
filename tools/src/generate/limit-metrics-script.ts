import { limitMetricsScript } from '@relay/server';
import type { GeneratedFile } from './generated-file.ts';

/** The table of limit metrics for the Redis scripts. */
export function limitMetricsFile(): GeneratedFile[] {
  return [{ path: 'server/src/admission/redis/script/metrics.lua', content: limitMetricsScript() }];
}
