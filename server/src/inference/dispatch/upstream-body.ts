import type { Operation } from '../../domain/routing/operation.ts';
import type { InferenceBody } from '../exchange.ts';

/** Usage is asked for on the gateway's own account; the frame that carries it is then not the client's. */
export function asksForUsage(operation: Operation, body: InferenceBody): boolean {
  return operation === 'chat' && body.streaming && !body.wantsUsageFrame;
}

/**
 * The client's bytes with the upstream's model in place of the name that was asked for. Every `model` of
 * the top level is replaced, so that it does not matter which of two duplicates the provider reads.
 *
 * A stream is metered from the usage the provider reports, so usage is asked for when the client did not;
 * `stream_options` is the only other value that is ever touched.
 */
export function upstreamBody(body: InferenceBody, upstreamModel: string, askForUsage: boolean): Buffer {
  const { bytes } = body;
  const parts: Buffer[] = [];
  let copiedTo = 0;
  let usageAsked = !askForUsage;

  function replace(start: number, end: number, value: string): void {
    parts.push(bytes.subarray(copiedTo, start), Buffer.from(value, 'utf8'));
    copiedTo = end;
  }

  const model = JSON.stringify(upstreamModel);
  for (const { name, start, end } of body.members) {
    if (name === 'model') {
      replace(start, end, model);
    } else if (name === 'stream_options' && askForUsage) {
      replace(start, end, withUsage(bytes.toString('utf8', start, end)));
      usageAsked = true;
    }
  }
  if (!usageAsked) replace(body.closing, body.closing, ',"stream_options":{"include_usage":true}');
  parts.push(bytes.subarray(copiedTo));
  return Buffer.concat(parts);
}

function withUsage(streamOptions: string): string {
  const parsed: unknown = JSON.parse(streamOptions);
  const given = typeof parsed === 'object' && parsed !== null ? parsed : {};
  return JSON.stringify({ ...given, include_usage: true });
}
