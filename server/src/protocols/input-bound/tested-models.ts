/**
 * Names of models whose tokenizers the bound is tested with: o200k and cl100k of OpenAI, those of Llama 2 and 3, and those of Mistral. A
 * provider may write its own name or the owner's before it (`mistralai/…`, `ft:…`, `us.meta.…`).
 */
const TESTED = [
  // GPT-3.5 and later, the reasoning models, embeddings, and the open models.
  /^(ft:)?(gpt-(3\.5|35|4|5|oss)|chatgpt-4o|o[134]([-.]|$)|codex-|text-embedding-(ada-002|3-))/,
  /^(meta-)?llama-?v?[23]([^\d]|$)/,
  /^(open-)?(mistral|mixtral|codestral|ministral|pixtral|magistral|devstral|voxtral)([-.:@]|$)/,
];

/** The largest of an image in the documentation of providers, by the names of their models. */
const IMAGE_TOKENS: readonly (readonly [RegExp, number])[] = [
  // 2,833 and 5,667 for each of at most 8 tiles of GPT-4o mini; all others of the time have fewer.
  [/^(ft:)?(gpt-(4|5)|chatgpt-4o|o[134]([-.]|$)|codex-)/, 48_169],
  [/^claude-/, 5_000],
  // 1,024 by 1,024 pixels, 16 by 16 for a token, and one at the end of each row; later ones have 1,540 by 1,540 and 28 by 28.
  [/^(open-)?(pixtral|mistral|ministral|magistral)([-.:@]|$)/, 4_160],
];

export function isTestedModel(model: string): boolean {
  const name = ownName(model);
  return TESTED.some((tested) => tested.test(name));
}

/** Null where it is not known. */
export function imageTokensMax(model: string): number | null {
  const name = ownName(model);
  return IMAGE_TOKENS.find(([names]) => names.test(name))?.[1] ?? null;
}

/** Without what stands before the model's own name. */
function ownName(model: string): string {
  const last = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  return last.replace(/^(?:(?:us|eu|apac|global)\.)?(?:meta|mistral|anthropic|openai)\./, '');
}
