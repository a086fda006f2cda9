import { countWords, sizeWords } from '@relay/contract/words';
import { type OutputMost, type RequestMost, unboundedIn } from '../domain/limits/hard-reservation.ts';
import type { Asked, Obstacle } from '../domain/routing/unfit.ts';
import type { Endpoint } from '../domain/snapshot.ts';
import { entryIn } from '../kit/entry-in.ts';
import { BUILT_VALUES_MAX } from '../kit/json-members.ts';
import { parseObject } from '../kit/json-value.ts';
import { finish, type Steps } from '../kit/slices.ts';
import { type InputBound, inputAtMost } from './input-bound/input-at-most.ts';
import { type Passage, passageTo } from './passage.ts';
import type { Protocol } from './protocol.ts';
import type { Quirks } from './provider-presets.ts';
import { isTooLargeToParse, type MeasuredBody, PARSED_BYTES_MAX } from './request-body.ts';
import { type AddedSetting, takes } from './splice-body.ts';
import { mayHoldSeals } from './translate/seal.ts';
import type { Incompatible, TranslatedRequest, Translation } from './translate/translation.ts';

/** A field may be the client's own invention. */
const FIELD_CHARACTERS_MAX = 80;

const UNSUPPORTED: Obstacle = {
  why: 'operation_unsupported',
  reason: 'it does not serve this operation',
};
const TOO_LARGE: Incompatible = {
  kind: 'incompatible',
  field: 'the whole request',
  why: `It has more than ${sizeWords(PARSED_BYTES_MAX)} or ${countWords(BUILT_VALUES_MAX)} values, the most that Relay translates.`,
};

/** Relay's own thinking in a request. The words of a user may look like it: then there are no paths, and the removal changes nothing. */
interface FoundThinking {
  readonly removal: AddedSetting | null;
  readonly paths: readonly string[];
}

const NO_THINKING: FoundThinking = { removal: null, paths: [] };

const NO_BYTES = Buffer.alloc(0);

/** The bytes are absent where a request is only explained. */
type Measured = MeasuredBody & { readonly bytes?: Buffer };

/** What one client asks for: which endpoints can take it, and in whose words. Translates at most once for each protocol. */
export class AskedRequest implements Asked {
  readonly protocol: Protocol;
  readonly #measured: Measured;
  readonly #parse: () => unknown;
  #parsed: { readonly request: unknown } | null = null;
  /** By the translation and, where the request has seals of Relay, whose of them are opened. */
  readonly #translated = new Map<Translation, Map<string, TranslatedRequest | Incompatible>>();
  #hasSeals: boolean | null = null;
  #foundThinking: FoundThinking | null = null;
  #outputMost: OutputMost | null = null;
  #inputBound: InputBound | null = null;

  /** `parse` gives the client's whole request; it is called only where something has to be translated. */
  constructor(protocol: Protocol, measured: Measured, parse: () => unknown) {
    this.protocol = protocol;
    this.#measured = measured;
    this.#parse = parse;
  }

  get isFree(): boolean {
    return this.protocol.isFree;
  }

  /** What it can write at most. */
  get outputMost(): OutputMost {
    this.#outputMost ??= this.protocol.request.outputMost(this.#measured);
    return this.#outputMost;
  }

  /** Reads all of a large request in steps, before `mostAt` reads it in one. */
  *readBound(): Steps<void> {
    this.#inputBound ??= yield* this.#readBound();
  }

  /** What it can use at most there, by what the client sent. */
  mostAt({ upstreamModel }: Pick<Endpoint, 'upstreamModel'>): RequestMost {
    this.#inputBound ??= finish(this.#readBound());
    const input = inputAtMost(this.#inputBound, upstreamModel);
    return 'tokens' in input
      ? { ...this.outputMost, inputTokens: input.tokens, unboundedInput: null }
      : { ...this.outputMost, inputTokens: 0, unboundedInput: input.unbounded.field };
  }

  unboundedAt(endpoint: Endpoint): string | null {
    const field = unboundedIn(this.mostAt(endpoint));
    return field === null ? null : shownField(field);
  }

  #readBound(): Steps<InputBound> {
    const { bytes = NO_BYTES, ...measured } = this.#measured;
    return this.protocol.request.inputBound({ ...measured, bytes });
  }

  /** As the client sent it, parsed. */
  get request(): unknown {
    this.#parsed ??= { request: this.#parse() };
    return this.#parsed.request;
  }

  passageTo(endpoint: Endpoint): Passage | undefined {
    return passageTo(this.protocol, endpoint);
  }

  obstacle(endpoint: Endpoint): Obstacle | null {
    const passage = this.passageTo(endpoint);
    if (passage === undefined) return UNSUPPORTED;
    if (passage.translation === null) return null;
    const translated = this.translated(passage.translation);
    if (translated.kind === 'translated') return null;
    const field = shownField(translated.field);
    const pair = `${this.protocol.operation} to ${passage.protocol.operation}`;
    // Reasons are parts of a sentence, whose end belongs to the error that lists them.
    const why = translated.why.replace(/\.$/, '');
    return { why: 'untranslatable', reason: `${pair}: "${field}" cannot be translated. ${why}` };
  }

  /** The request in the provider's words, without the name of the model. `maker`: whose seals are opened (`makerOf`). */
  translated(translation: Translation, maker = ''): TranslatedRequest | Incompatible {
    const opens = maker !== '' && this.#mayHoldSeals ? maker : '';
    const byMaker = entryIn(this.#translated, translation, () => new Map());
    return entryIn(byMaker, opens, () =>
      isTooLargeToParse(this.#measured.members)
        ? TOO_LARGE
        : translation.request(this.request, '', opens === '' ? {} : { maker: opens }),
    );
  }

  get #mayHoldSeals(): boolean {
    const { bytes } = this.#measured;
    this.#hasSeals ??= bytes === undefined || mayHoldSeals(bytes);
    return this.#hasSeals;
  }

  /**
   * The fields that the provider does not get, without positions in lists; empty where nothing is left out. `quirks`: what
   * this provider does not take. `maker`: as for `translated`.
   */
  leftOut(translation: Translation | null, quirks: Quirks, maker = ''): readonly string[] {
    const paths = translation === null ? this.#notPassed(quirks) : this.#untold(translation, quirks, maker);
    return [...new Set(paths.map((path) => path.replaceAll(/\[\d+\]/g, '')))].map(shownField);
  }

  #untold(translation: Translation, quirks: Quirks, maker: string): readonly string[] {
    const translated = this.translated(translation, maker);
    if (translated.kind !== 'translated') return [];
    const notTaken = Object.keys(translated.body).filter((name) => !takes(quirks, name));
    return [...translated.leftOut, ...this.#given(notTaken)];
  }

  /** All that requests lose which are passed through. */
  #notPassed({ dropped_parameters: dropped }: Quirks): readonly string[] {
    return [...this.#given(dropped), ...this.#thinking.paths];
  }

  /** Those that the client sent. */
  #given(names: readonly string[]): readonly string[] {
    const { members } = this.#measured;
    return names.filter((name) => members.some((member) => member.name === name));
  }

  /** Removes Relay's own thinking from a request that is passed through; null where there is none. */
  get thinkingRemoval(): AddedSetting | null {
    return this.#thinking.removal;
  }

  /** Every attempt needs it, and the bytes are searched for it once. */
  get #thinking(): FoundThinking {
    this.#foundThinking ??= this.#findThinking();
    return this.#foundThinking;
  }

  /** Few requests have any, and the others are not parsed for it. */
  #findThinking(): FoundThinking {
    const { ownThinking } = this.protocol.request;
    const { bytes, members } = this.#measured;
    if (ownThinking === null || isTooLargeToParse(members)) return NO_THINKING;
    const { removal } = ownThinking;
    if (bytes === undefined) return { removal, paths: ownThinking.pathsIn(this.request) };
    if (!ownThinking.mayBeIn(bytes)) return NO_THINKING;
    // Of a large body only the structure was checked: the provider judges the rest, as it does when nothing is removed.
    return { removal, paths: ownThinking.pathsIn(parseObject(bytes.toString('utf8'))) };
  }
}

/** It stands in headers, errors and logs. */
function shownField(field: string): string {
  return field
    .slice(0, FIELD_CHARACTERS_MAX)
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, '\u{FFFD}');
}
