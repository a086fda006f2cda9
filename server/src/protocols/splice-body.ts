import type { InferenceBody } from './request-body.ts';

/** A setting that Relay adds to a request, or merges into the client's own. */
export interface AddedSetting {
  readonly name: string;
  /** The client's value, as JSON text, with what Relay adds. */
  readonly merged: (value: string) => string;
  /** What goes before the closing brace when the client did not send the setting, with its leading comma. */
  readonly appended: string;
}

/**
 * The client's bytes with the upstream model in place of the requested name. Every `model` of the top level is replaced, so that
 * it does not matter which of two duplicates the provider reads. `added` is the only other value that is changed.
 */
export function spliceBody(body: InferenceBody, upstreamModel: string, added: AddedSetting | null): Buffer {
  const { bytes } = body;
  const parts: Buffer[] = [];
  let copiedTo = 0;
  let missing = added !== null;

  function replace(start: number, end: number, value: string): void {
    parts.push(bytes.subarray(copiedTo, start), Buffer.from(value, 'utf8'));
    copiedTo = end;
  }

  const model = JSON.stringify(upstreamModel);
  for (const { name, start, end } of body.members) {
    if (name === 'model') {
      replace(start, end, model);
    } else if (added !== null && name === added.name) {
      replace(start, end, added.merged(bytes.toString('utf8', start, end)));
      missing = false;
    }
  }
  if (added !== null && missing) replace(body.closing, body.closing, added.appended);
  parts.push(bytes.subarray(copiedTo));
  return Buffer.concat(parts);
}
