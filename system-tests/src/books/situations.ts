import { errorBody, type Telling } from './answers.ts';
import type { Play, Report } from './bill.ts';
import { type End, ends, type ReportKind } from './ends.ts';
import { isTranslated, type Mode, modes } from './modes.ts';
import { completePlay, framesBefore, headOf, numbersOf, play, type Scene } from './plays.ts';

/** Which endpoints a lane has: one, two, one behind a guardrail, one that cannot be reached, … */
export type LaneKind =
  | 'single'
  | 'followed'
  | 'guarded after'
  | 'guarded before'
  | 'throttled'
  | 'free'
  | Dead
  | `${Dead}, followed`;
export type Dead = 'closed port' | 'unknown host' | 'no TLS';
export const deadKinds: readonly Dead[] = ['closed port', 'unknown host', 'no TLS'];

/** One request, and what its providers do. */
export interface Situation {
  readonly name: string;
  readonly end: string;
  readonly report: ReportKind;
  readonly companion: string;
  readonly mode: Mode;
  readonly hard: boolean;
  readonly lane: LaneKind;
  readonly plays: () => Promise<readonly Play[]>;
  /** The client leaves once so many attempts were played. */
  readonly leavesAfter?: number;
  readonly rest?: End['rest'];
  readonly index: number;
}

type Draft = Omit<Situation, 'index' | 'name' | 'plays'> & {
  readonly plays: (index: number) => Promise<readonly Play[]>;
};

const LARGE_FRAME_BYTES = 2_000_000;
const HUGE_OUTPUT = 12_000_000;
/** How many modes a way to end is tried in, by what is around it. */
const MODES_OF: Readonly<Record<string, number>> = {
  alone: 7,
  followed: 5,
  'followed by a failure': 3,
  'client leaves': 6,
  'followed, client leaves': 3,
  'guardrail refuses': 3,
  'after a pause': 6,
};
/** The same for what waits for a deadline. */
const MODES_OF_SLOW = 3;

function reportsOf(kind: ReportKind, { input, cached, output }: Required<Report>): readonly Report[] {
  switch (kind) {
    case 'nothing':
      return [];
    case 'in part':
      return [{ input, cached }];
    case 'twice':
      return [
        { input, cached, output: 3 },
        { input, cached, output },
      ];
    case 'zeros after all':
      return [
        { input, cached, output },
        { input: 0, output: 0 },
      ];
    case 'huge':
      return [{ input, cached, output: HUGE_OUTPUT + output }];
    default:
      return [{ input, cached, output }];
  }
}

function tellingOf(kind: ReportKind, end: Pick<End, 'early'>, index: number): Telling {
  return {
    reports: reportsOf(kind, numbersOf(index)),
    ...(end.early === true ? { early: true } : {}),
    ...(kind === 'in 2 MB' ? { padding: LARGE_FRAME_BYTES } : {}),
  };
}

/** What a second endpoint does. It speaks what the first does. */
const served = (mode: Mode, index: number) =>
  completePlay({ mode: plainOf(mode), telling: { reports: [numbersOf(index + 17)] } });

const plainOf = (mode: Mode): Mode => ({ ...mode, gzip: false });

function failed(mode: Mode, index: number): Promise<Play> {
  const scene: Scene = { mode: { ...mode, gzip: false, streaming: false }, telling: { reports: [] } };
  const pieces = errorBody(mode.wire, numbersOf(index + 23));
  return play(scene, { head: headOf(scene, 500), pieces });
}

/** A second endpoint in the middle of its answer. */
function held(mode: Mode, index: number): Promise<Play> {
  const scene: Scene = { mode: plainOf(mode), telling: { reports: [numbersOf(index + 31)], early: true } };
  if (!mode.streaming) return play(scene, { pieces: [], head: null, end: 'hold' });
  return play(scene, { pieces: framesBefore(scene, 'closing'), end: 'hold' });
}

const inModes = (end: End, kind: ReportKind) =>
  modes.filter(
    (mode) => end.in(mode) && (mode.streaming || (kind !== 'twice' && kind !== 'zeros after all')),
  );

interface Around {
  readonly companion: string;
  readonly lane: LaneKind;
  readonly applies: (end: End, kind: ReportKind, mode: Mode) => boolean;
  readonly further: (mode: Mode, index: number) => Promise<readonly Play[]>;
  readonly leavesAfter?: number;
}

const isPlain = (kind: ReportKind) => kind === 'nothing' || kind === 'all';
const falls = ({ falls: does }: End) => does === true;

const arounds: readonly Around[] = [
  {
    companion: 'alone',
    lane: 'single',
    applies: ({ again }) => again !== true,
    further: async () => [],
  },
  {
    companion: 'after a pause',
    lane: 'single',
    applies: ({ again }) => again === true,
    further: async (mode, index) => [await served(mode, index)],
  },
  {
    companion: 'followed',
    lane: 'followed',
    applies: falls,
    further: async (mode, index) => [await served(mode, index)],
  },
  {
    companion: 'followed by a failure',
    lane: 'followed',
    applies: (end, kind) => falls(end) && isPlain(kind) && end.holds !== true,
    further: async (mode, index) => [await failed(mode, index)],
  },
  {
    companion: 'client leaves',
    lane: 'single',
    applies: ({ holds }) => holds === true,
    further: async () => [],
    leavesAfter: 1,
  },
  {
    companion: 'followed, client leaves',
    lane: 'followed',
    applies: (end, kind) => falls(end) && isPlain(kind) && end.holds !== true,
    further: async (mode, index) => [await held(mode, index)],
    leavesAfter: 2,
  },
  {
    companion: 'guardrail refuses',
    lane: 'guarded after',
    applies: ({ holds, again, unguarded }, _kind, { streaming }) =>
      !streaming && holds !== true && again !== true && unguarded !== true,
    further: async () => [],
  },
];

/** The same way to end, told the same, with the same around it, in as many modes as are chosen. */
function* groups(): Generator<readonly Draft[]> {
  for (const end of ends)
    for (const report of end.reports)
      for (const around of arounds) {
        const { companion, lane, further, leavesAfter } = around;
        const fitting = inModes(end, report).filter((mode) => around.applies(end, report, mode));
        const drafts = fitting.flatMap((mode) =>
          [false, true].map(
            (hard): Draft => ({
              end: end.name,
              report,
              companion,
              mode,
              hard,
              lane,
              ...(leavesAfter === undefined ? {} : { leavesAfter }),
              ...(end.rest === undefined ? {} : { rest: end.rest }),
              plays: async (index) => [
                await end.play({ mode, telling: tellingOf(report, end, index) }),
                ...(await further(mode, index)),
              ],
            }),
          ),
        );
        if (drafts.length > 0) yield drafts;
      }
  yield* unsentGroups();
  yield* guardedGroups();
  yield* tierGroups();
  yield pausedGroup();
}

/** What never leaves: one endpoint that cannot be reached, alone or before another. */
function* unsentGroups(): Generator<readonly Draft[]> {
  for (const dead of deadKinds)
    for (const companion of ['alone', 'followed']) {
      const fitting = modes.filter(({ wire, gzip }) => wire !== 'messages' && !gzip);
      yield fitting.flatMap((mode) =>
        [false, true].map(
          (hard): Draft => ({
            end: dead,
            report: 'nothing',
            companion,
            mode,
            hard,
            lane: companion === 'alone' ? dead : `${dead}, followed`,
            plays: async (index) => (companion === 'alone' ? [] : [await served(mode, index)]),
          }),
        ),
      );
    }
}

/** A guardrail refuses the request. */
function* guardedGroups(): Generator<readonly Draft[]> {
  yield modes
    .filter(({ streaming, gzip }) => !streaming && !gzip)
    .flatMap((mode) =>
      [false, true].map(
        (hard): Draft => ({
          end: 'complete',
          report: 'all',
          companion: 'guardrail refuses the request',
          mode,
          hard,
          lane: 'guarded before',
          plays: async (index) => [await served(mode, index)],
        }),
      ),
    );
}

/** An endpoint whose base price is 0, and a tier that has a price. */
function* tierGroups(): Generator<readonly Draft[]> {
  for (const inContentOnly of [false, true]) {
    const fitting = modes.filter(({ gzip, wire, streaming }) =>
      inContentOnly ? !gzip && wire === 'chat' && streaming : !gzip,
    );
    yield fitting.flatMap((mode) =>
      [false, true].map(
        (hard): Draft => ({
          end: inContentOnly ? 'a tier in the content' : 'a tier',
          report: 'all',
          companion: 'alone',
          mode,
          hard,
          lane: 'free',
          plays: async (index) => {
            const tier = { name: 'priority', inContentOnly };
            return [await completePlay({ mode, telling: { reports: [numbersOf(index)], tier } })];
          },
        }),
      ),
    );
  }
}

/** The client leaves while the request waits for the end of a pause. */
function pausedGroup(): readonly Draft[] {
  return modes
    .filter((mode) => !mode.gzip && !isTranslated(mode))
    .flatMap((mode) =>
      [false, true].map(
        (hard): Draft => ({
          end: 'status 429 with Retry-After',
          report: 'all',
          companion: 'client leaves in the pause',
          mode,
          hard,
          lane: 'throttled',
          leavesAfter: 1,
          plays: async (index) => {
            const scene: Scene = { mode: { ...mode, streaming: false }, telling: { reports: [] } };
            const head = {
              status: 429,
              headers: { 'content-type': 'application/json', 'retry-after-ms': '2000' },
            };
            return [await play(scene, { head, pieces: errorBody(mode.wire, numbersOf(index)) })];
          },
        }),
      ),
    );
}

/** Every group, each in some of its modes; other seeds choose others. */
export function allSituations(random: () => number): Situation[] {
  const chosen: Draft[] = [];
  for (const drafts of groups()) chosen.push(...pick(drafts, modesOf(drafts[0]), random));
  return chosen.map((draft, index) => named(draft, index));
}

/** `count` of all, so that as many ways to end as possible are among them. */
export function sampleOf(all: readonly Situation[], count: number, random: () => number): Situation[] {
  const byGroup = [...Map.groupBy(all, ({ end, companion }) => `${end}, ${companion}`).values()];
  const chosen: Situation[] = [];
  const left = byGroup.map((group) => shuffled(group, random));
  for (let round = 0; chosen.length < count && left.some((group) => group.length > round); round += 1)
    for (const group of shuffled(left, random)) {
      const next = group[round];
      if (next !== undefined && chosen.length < count) chosen.push(next);
    }
  return chosen;
}

function modesOf(draft: Draft | undefined): number {
  if (draft === undefined) return 0;
  const { end, companion, rest, lane } = draft;
  const waits = end.startsWith('silent') && companion !== 'client leaves';
  const isSlow = waits || end.includes('slow') || (rest === 'credential' && lane === 'followed');
  return isSlow ? MODES_OF_SLOW : (MODES_OF[companion] ?? 8);
}

function named(draft: Draft, index: number): Situation {
  const { end, report, companion, mode, hard } = draft;
  const name = `${end} · reported: ${report} · ${companion} · ${mode.name}${hard ? ' · hard' : ''}`;
  return { ...draft, name, index, plays: () => draft.plays(index) };
}

function pick<T>(list: readonly T[], count: number, random: () => number): readonly T[] {
  return list.length <= count ? list : shuffled(list, random).slice(0, count);
}

function shuffled<T>(list: readonly T[], random: () => number): T[] {
  return list
    .map((value) => ({ value, at: random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ value }) => value);
}
