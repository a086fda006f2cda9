import fc from 'fast-check';

/** What a model says, in no protocol's words; each provider of the suite says it in its own. */
export interface ModelAnswer {
  readonly id: string;
  readonly parts: readonly AnswerPart[];
  readonly end: 'stop' | 'length' | 'sequence' | 'refusal';
  readonly usage: AnswerUsage;
  /** Characters in each delta of its stream. */
  readonly pieceLength: number;
}

export type AnswerPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string; readonly signature: string }
  | { readonly kind: 'redacted'; readonly data: string }
  | { readonly kind: 'refusal'; readonly text: string }
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly json: string };

export interface AnswerUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWritten: number;
  readonly reasoning: number;
}

/** The tools that every request of the suite declares. */
export const TOOLS = ['get_weather', 'read_file', 'wait'] as const;

const words = fc.stringMatching(/^[a-z]{1,8}( [a-zäöü✓"\\\n]{1,8}){0,9}$/u);
const text = words.map((each): AnswerPart => ({ kind: 'text', text: each }));
const thinking = words.map(
  (each): AnswerPart => ({ kind: 'thinking', text: each, signature: Buffer.from(each).toString('base64') }),
);
const redacted = words.map(
  (each): AnswerPart => ({ kind: 'redacted', data: Buffer.from(each).toString('base64') }),
);
const refusal = words.map((each): AnswerPart => ({ kind: 'refusal', text: each }));
const input = fc.oneof(
  fc.constant('{}'),
  fc.record({ city: words, days: fc.integer() }).map((each) => JSON.stringify(each)),
  fc.array(words, { maxLength: 4 }).map((list) => JSON.stringify({ list, nested: { none: null } })),
);
const call = fc
  .tuple(fc.integer({ min: 1, max: 1e9 }), fc.constantFrom(...TOOLS), input)
  .map(([number, name, json]): AnswerPart => ({ kind: 'call', id: `call_${number}`, name, json }));

const parts = fc.oneof(
  fc.tuple(text),
  fc.tuple(thinking, text),
  fc.tuple(thinking, redacted, text),
  fc.tuple(redacted, text, call),
  fc.tuple(thinking, call, call),
  fc.tuple(text, call),
  fc.tuple(call, call, call),
  fc.tuple(thinking, text, call),
);
const usage = fc
  .tuple(fc.nat(9_999), fc.nat(999), fc.nat(999), fc.nat(999), fc.nat(99))
  .map(([fresh, output, cacheRead, cacheWritten, reasoning]) => ({
    input: fresh + cacheRead + cacheWritten,
    output: output + reasoning,
    cacheRead,
    cacheWritten,
    reasoning,
  }));

const plain = fc.record({
  id: fc.stringMatching(/^[0-9a-f]{8,24}$/),
  parts,
  end: fc.constantFrom('stop' as const, 'stop' as const, 'length' as const, 'sequence' as const),
  usage,
  pieceLength: fc.integer({ min: 1, max: 40 }),
});
const declined = fc
  .tuple(plain, fc.oneof(fc.tuple(refusal), fc.tuple(text, refusal), fc.constant<AnswerPart[]>([])))
  .map(([answer, list]): ModelAnswer => ({ ...answer, parts: list, end: 'refusal' }));

export const modelAnswers: fc.Arbitrary<ModelAnswer> = fc.oneof(
  { arbitrary: plain, weight: 6 },
  { arbitrary: declined, weight: 1 },
);

export function piecesOf(text: string, length: number): string[] {
  const characters = [...text];
  return Array.from({ length: Math.ceil(characters.length / length) }, (_, at) =>
    characters.slice(at * length, (at + 1) * length).join(''),
  );
}
