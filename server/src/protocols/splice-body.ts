import { NO_QUIRKS, OPTIONAL_PARAMETERS, type Quirks } from './provider-presets.ts';
import type { InferenceBody } from './request-body.ts';

const QUOTE = 0x22;
const OPEN_BRACE = 0x7b;
/** The letter n, which no other value begins with. */
const FIRST_OF_NULL = 0x6e;

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
 * it does not matter which of two duplicates the provider reads. `given` are the only other values that are changed; `quirks` leave out and
 * rename members. The parts are slices of the client's bytes: a copy of a large body would block the event loop.
 */
export function spliceBody(
  body: InferenceBody,
  upstreamModel: string,
  given: readonly (AddedSetting | null)[],
  quirks: Quirks = NO_QUIRKS,
): readonly Buffer[] {
  const { bytes, members } = body;
  const parts: Buffer[] = [];
  let copiedTo = 0;
  const added = given.filter((setting) => setting !== null).map((setting) => namedFor(setting, quirks));
  const missing = new Set(added);
  let isFirst = true;

  function replace(start: number, end: number, value: string): void {
    parts.push(bytes.subarray(copiedTo, start), Buffer.from(value, 'utf8'));
    copiedTo = end;
  }

  /** Where the name of a member begins; the end of the last member for the one after it. */
  function nameAt(index: number): number {
    const before = index === 0 ? bytes.indexOf(OPEN_BRACE) + 1 : (members[index - 1]?.end ?? 0);
    return index === members.length ? before : bytes.indexOf(QUOTE, before);
  }

  const model = JSON.stringify(upstreamModel);
  const isSet = (name: string) =>
    members.some((member) => member.name === name && bytes[member.start] !== FIRST_OF_NULL);
  for (const [index, { name, start, end }] of members.entries()) {
    const sentAs = nameFor(name, quirks, isSet);
    if (sentAs === null) {
      // With the comma before it, or after it when nothing is before it.
      if (isFirst) replace(nameAt(index), nameAt(index + 1), '');
      else replace(members[index - 1]?.end ?? start, end, '');
      continue;
    }
    isFirst = false;
    if (sentAs !== name) replace(nameAt(index), start, `${JSON.stringify(sentAs)}:`);
    if (name === 'model') {
      replace(start, end, model);
      continue;
    }
    const setting = added.find((each) => each.name === sentAs);
    if (setting === undefined) continue;
    replace(start, end, setting.merged(bytes.toString('utf8', start, end)));
    missing.delete(setting);
  }
  for (const { appended } of missing) replace(body.closing, body.closing, appended);
  parts.push(bytes.subarray(copiedTo));
  return parts;
}

/** The limit on the output that Relay writes; null where it writes none. */
export function capSetting(name: string, cap: number | null): AddedSetting | null {
  if (cap === null) return null;
  return { name, merged: () => String(cap), appended: `,${JSON.stringify(name)}:${cap}` };
}

/** What Relay adds by the provider's name for it. */
function namedFor(setting: AddedSetting, { renamed_parameters: renamed }: Quirks): AddedSetting {
  const { name, appended } = setting;
  const sentAs = renamed[name];
  if (sentAs === undefined) return setting;
  return { ...setting, name: sentAs, appended: appended.replace(`"${name}"`, () => `"${sentAs}"`) };
}

/** Whether the provider gets a member of a translated request. */
export function takes(
  { dropped_parameters: dropped, accepted_parameters: accepted }: Quirks,
  name: string,
): boolean {
  const isOptional = OPTIONAL_PARAMETERS.some((each) => each === name);
  return !dropped.includes(name) && (!isOptional || accepted.includes(name));
}

/** A translated request with the provider's names of its members, and without those that it does not take. */
export function withQuirks(
  body: Readonly<Record<string, unknown>>,
  quirks: Quirks,
): Readonly<Record<string, unknown>> {
  const renamed = Object.entries(body).flatMap(([name, value]): [string, unknown][] => {
    if (!takes(quirks, name)) return [];
    const sentAs = nameFor(name, quirks, (other) => (body[other] ?? null) !== null);
    return sentAs === null ? [] : [[sentAs, value]];
  });
  return Object.fromEntries(renamed);
}

/**
 * Null when the member is left out. A renamed member replaces one that has that name already, because the estimate also reads the newer
 * one first; a renamed null sets nothing.
 */
function nameFor(name: string, quirks: Quirks, isSet: (name: string) => boolean): string | null {
  const { dropped_parameters: dropped, renamed_parameters: renamed } = quirks;
  if (dropped.includes(name)) return null;
  for (const [given, sent] of Object.entries(renamed)) {
    if (name === given) return isSet(given) ? sent : null;
    if (name === sent && isSet(given)) return null;
  }
  return name;
}
