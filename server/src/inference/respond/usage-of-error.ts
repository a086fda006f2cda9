import type { Usage } from '../../domain/money/usage.ts';
import { finish } from '../../kit/slices.ts';
import type { Protocol } from '../../protocols/protocol.ts';
import type { UpstreamHead } from '../exchange.ts';
import { encodingOf } from './upstream-head.ts';

/** Usage is looked for in errors up to this size, which are read in one go. */
const ERROR_USAGE_BYTES_MAX = 16 * 1024;

/** An error says by itself that nothing was done. One that reports usage says otherwise, and is charged for it. */
export function usageOfError({ answer }: Protocol, head: UpstreamHead, body: Buffer): Usage | null {
  if (body.length > ERROR_USAGE_BYTES_MAX || encodingOf(head) !== null) return null;
  const { usage } = finish(answer.read(body));
  return usage === null || usage.inputTokens + usage.outputTokens === 0 ? null : usage;
}
