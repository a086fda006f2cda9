import type { InferenceBody } from '../exchange.ts';

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
  for (const span of body.spans) {
    if (span.name === 'model') {
      replace(span.start, span.end, model);
    } else if (askForUsage) {
      replace(span.start, span.end, withUsage(body.fields['stream_options']));
      usageAsked = true;
    }
  }
  if (!usageAsked) replace(body.closing, body.closing, ',"stream_options":{"include_usage":true}');
  parts.push(bytes.subarray(copiedTo));
  return Buffer.concat(parts);
}

function withUsage(streamOptions: unknown): string {
  const given = typeof streamOptions === 'object' && streamOptions !== null ? streamOptions : {};
  return JSON.stringify({ ...given, include_usage: true });
}
