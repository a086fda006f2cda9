import type fc from 'fast-check';
import { writeJson } from '../../../kit/json-source.ts';
import type { Shape } from '../schemas/shape.fixture.ts';
import type { TranslatedRequest, Translation } from '../translation.ts';

/** A pair with the requests that are generated for it. */
export interface GeneratedPair {
  readonly translation: Translation;
  readonly requests: fc.Arbitrary<unknown>;
  /** How many of the requests may have what the provider cannot be asked. */
  readonly refusedShareMax: number;
  /** What the provider would reject; knows nothing of translations. */
  readonly problemsOf: Shape;
  /** Fields that are neither in the translated request nor named as left out. */
  unnamedIn(request: unknown, translated: TranslatedRequest): readonly string[];
}

export interface Judgement {
  readonly refused: boolean;
  readonly problems: readonly string[];
  readonly unnamed: readonly string[];
}

export function judge({ translation, problemsOf, unnamedIn }: GeneratedPair, request: unknown): Judgement {
  const translated = translation.request(request, 'upstream');
  if (translated.kind === 'incompatible') return { refused: true, problems: [], unnamed: [] };
  return {
    refused: false,
    // As the provider gets it.
    problems: problemsOf(JSON.parse(writeJson(translated.body)), ''),
    unnamed: unnamedIn(request, translated),
  };
}
