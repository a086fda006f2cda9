/** A shared run of this many letters and digits is an echo; shorter ones occur by chance. */
const RUN_CHARACTERS = 10;
/** A text of the request that is shorter than a run is an echo as a whole, unless it says nothing. */
const WHOLE_CHARACTERS_MIN = 4;
/** Values that requests have in common. They are no text of anybody. */
const COMMON_VALUES = new Set(
  'user assistant system developer tool function text message auto none required string object array number integer boolean image file audio input output inputtext outputtext imageurl jsonobject jsonschema default flex priority minimal medium high detailed concise float base64'.split(
    ' ',
  ),
);

/**
 * Whether a text repeats something of a request: any run of its letters and digits, whatever the case, spacing or escapes. The value of
 * `model` may be repeated. `request` is the parsed body.
 */
export function echoesRequest(text: string, request: unknown): boolean {
  const said = plain(text);
  const runs = new Set<string>();
  for (let at = 0; at + RUN_CHARACTERS <= said.length; at += 1) runs.add(said.slice(at, at + RUN_CHARACTERS));
  // A request can nest too deep for recursion.
  const open: unknown[] = [withoutModel(request)];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === 'string' && isRepeated(said, runs, plain(value))) return true;
    if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) open.push(each);
  }
  return false;
}

function isRepeated(said: string, runs: ReadonlySet<string>, value: string): boolean {
  if (value.length < RUN_CHARACTERS)
    return value.length >= WHOLE_CHARACTERS_MIN && !COMMON_VALUES.has(value) && said.includes(value);
  for (let at = 0; at + RUN_CHARACTERS <= value.length; at += 1)
    if (runs.has(value.slice(at, at + RUN_CHARACTERS))) return true;
  return false;
}

function withoutModel(request: unknown): unknown {
  if (typeof request !== 'object' || request === null) return request;
  return { ...request, model: null };
}

/** Letters and digits only, so that quotes, escapes and line breaks make no difference. */
function plain(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '');
}
