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

/** A word of this length that both have is an echo too, such as a name or a number. */
const WORD_CHARACTERS_MIN = 4;
/** Words of errors about credentials and addresses. That a request has them too means nothing. */
const COMMON_WORDS = new Set(
  'access account activate active allowed authentication authorization authorized bearer been before belong billing cannot check contact correct credentials credit create deactivated denied disabled does error exceeded exist expired failed find forbidden from funds have header https incorrect insufficient invalid it keys limit limited login made make method missing model models moved more must need needed openai organization page payment permanently permission permissions plan platform please project provided provider proxy quota read redacted redirect redirects refused region rejected required request requests resource revoked sent server service support temporarily that this token unauthorized user valid verify version visit when with without wrong your'.split(
    ' ',
  ),
);

/**
 * Whether a text repeats something of a request: any run of its letters and digits, or an uncommon
 * word, whatever the case, spacing or escapes. The value of
 * `model` may be repeated. `request` is the parsed body.
 */
export function echoesRequest(text: string, request: unknown): boolean {
  const said = plain(text);
  const runs = new Set<string>();
  const words = uncommonWords(text);
  for (let at = 0; at + RUN_CHARACTERS <= said.length; at += 1) runs.add(said.slice(at, at + RUN_CHARACTERS));
  // A request can nest too deep for recursion.
  const open: unknown[] = [withoutModel(request)];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === 'string' && (hasWord(value, words) || isRepeated(said, runs, plain(value))))
      return true;
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

function uncommonWords(text: string): ReadonlySet<string> {
  const words = wordsOf(text).filter(
    (word) => word.length >= WORD_CHARACTERS_MIN && !COMMON_WORDS.has(word) && !COMMON_VALUES.has(word),
  );
  return new Set(words);
}

function hasWord(value: string, words: ReadonlySet<string>): boolean {
  return words.size > 0 && wordsOf(value).some((word) => words.has(word));
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function withoutModel(request: unknown): unknown {
  if (typeof request !== 'object' || request === null) return request;
  return { ...request, model: null };
}

/** Letters and digits only, so that quotes, escapes and line breaks make no difference. */
function plain(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '');
}
