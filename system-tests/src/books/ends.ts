import { errorBody, foreignContent, wholeAnswer } from './answers.ts';
import type { Piece, Play } from './bill.ts';
import { errorFrame, foreignFrame, largeFrame } from './frames.ts';
import { isTranslated, type Mode } from './modes.ts';
import { completePlay, framesBefore, headOf, piecesOf, play, REFUSED_MS, type Scene } from './plays.ts';

/** What the provider has reported by the time it ends. */
export type ReportKind = 'nothing' | 'in part' | 'all' | 'twice' | 'zeros after all' | 'huge' | 'in 2 MB';

/** One way in which a provider ends. */
export interface End {
  readonly name: string;
  readonly in: (mode: Mode) => boolean;
  readonly reports: readonly ReportKind[];
  /** Usage comes before the content. */
  readonly early?: boolean;
  /** Another endpoint may follow. */
  readonly falls?: boolean;
  /** The provider holds the connection: the client may leave, or the time runs out. */
  readonly holds?: boolean;
  readonly unguarded?: boolean;
  /** The attempts after this one at the same endpoint. */
  readonly again?: boolean;
  /** What has to pass before the endpoint is asked again. */
  readonly rest?: 'cooldown' | 'credential';
  readonly play: (scene: Scene) => Promise<Play>;
}

const MANY: readonly ReportKind[] = [
  'nothing',
  'in part',
  'all',
  'twice',
  'zeros after all',
  'huge',
  'in 2 MB',
];
const USUAL: readonly ReportKind[] = ['nothing', 'in part', 'all', 'huge'];
const SOME: readonly ReportKind[] = ['nothing', 'all'];
const NOTHING: readonly ReportKind[] = ['nothing'];
const ALL: readonly ReportKind[] = ['all'];
const BIG_BYTES = 9 * 1024 * 1024;
const LARGE_FRAME_BYTES = 600_000;
const LARGE_ERROR_BYTES = 20 * 1024;
const HUGE_ERROR_BYTES = 1_100_000;
const SLOW_MS = 2_600;
const NOT_STREAMING = { streaming: false } as const;

const any = () => true;
const whole = ({ streaming }: Mode) => !streaming;
const stream = ({ streaming }: Mode) => streaming;
const both =
  (...tests: readonly ((mode: Mode) => boolean)[]) =>
  (mode: Mode) =>
    tests.every((test) => test(mode));
const not = (test: (mode: Mode) => boolean) => (mode: Mode) => !test(mode);
const gzip = (mode: Mode) => mode.gzip;

/** The same mode in one piece, for what a provider says instead of a stream. */
const inOnePiece = (scene: Scene): Scene => ({ ...scene, mode: { ...scene.mode, ...NOT_STREAMING } });

const bare = (scene: Scene, end: Play['end'], head: Play['head'] = null) =>
  play(scene, { head, pieces: [], missing: 100, end });

const firstOf = (pieces: readonly Piece[]) => pieces.slice(0, 1);

/** The same place in an answer, where the provider either ends the connection or stays silent. */
function cutOrHold(
  place: string,
  more: Omit<End, 'name' | 'play' | 'holds'>,
  make: (scene: Scene, end: 'cut' | 'hold') => Promise<Play>,
): End[] {
  return [
    { ...more, name: `cut ${place}`, play: (scene) => make(scene, 'cut') },
    { ...more, name: `silent ${place}`, holds: true, play: (scene) => make(scene, 'hold') },
  ];
}

const places: readonly End[] = [
  ...cutOrHold('before the head', { in: any, reports: NOTHING, falls: true }, (scene, end) =>
    bare(scene, end),
  ),
  ...cutOrHold('in the head', { in: not(gzip), reports: NOTHING, falls: true }, (scene, end) =>
    bare(scene, end, 'HTTP/1.1 200 OK\r\ncontent-ty'),
  ),
  ...cutOrHold('after the head', { in: any, reports: NOTHING, falls: true }, (scene, end) =>
    bare(scene, end, headOf(scene)),
  ),
  ...cutOrHold('in mid-body', { in: whole, reports: USUAL, early: true, falls: true }, (scene, end) =>
    play(scene, { pieces: firstOf(piecesOf(scene)), missing: 100, end }),
  ),
  ...cutOrHold('before the end of chunks', { in: whole, reports: USUAL, falls: true }, (scene, end) =>
    play(scene, { pieces: piecesOf(scene), framing: 'chunked', end, gzipEnd: 'whole' }),
  ),
  ...cutOrHold('before content', { in: stream, reports: USUAL, early: true, falls: true }, (scene, end) =>
    play(scene, { pieces: framesBefore(scene, 'content'), end }),
  ),
  ...cutOrHold('after content', { in: stream, reports: USUAL, early: true }, (scene, end) =>
    play(scene, { pieces: framesBefore(scene, 'closing'), end }),
  ),
  ...cutOrHold('after usage', { in: stream, reports: USUAL }, (scene, end) =>
    play(scene, { pieces: framesBefore(scene, 'done'), end }),
  ),
  ...cutOrHold('after the last frame', { in: stream, reports: MANY }, (scene, end) =>
    play(scene, { pieces: piecesOf(scene), end }),
  ),
];

const wholes: readonly End[] = [
  { name: 'complete', in: any, reports: MANY, play: completePlay },
  {
    name: 'complete in chunks',
    in: whole,
    reports: USUAL,
    play: (scene) => play(scene, { pieces: piecesOf(scene), framing: 'chunked' }),
  },
  {
    name: 'complete, usage first',
    in: any,
    reports: USUAL,
    early: true,
    play: completePlay,
  },
  {
    name: 'text after the answer',
    in: whole,
    reports: USUAL,
    falls: true,
    play: (scene) => play(scene, { pieces: [...piecesOf(scene), { bytes: Buffer.from('\nand more') }] }),
  },
  {
    name: 'bytes after the end',
    in: any,
    reports: SOME,
    play: (scene) => play(scene, { pieces: piecesOf(scene), trailing: 'and more' }),
  },
  {
    name: 'no JSON',
    in: whole,
    reports: NOTHING,
    falls: true,
    play: (scene) => play(scene, { pieces: [{ bytes: Buffer.from('<html>played</html>') }] }),
  },
  {
    name: 'not translatable',
    in: both(whole, isTranslated),
    reports: USUAL,
    falls: true,
    play: (scene) =>
      play(scene, { pieces: wholeAnswer(scene.mode.wire, scene.telling, foreignContent(scene.mode.wire)) }),
  },
  {
    name: 'without a content type',
    in: any,
    reports: USUAL,
    falls: true,
    play: (scene) => play(scene, { head: { status: 200, headers: {} }, pieces: piecesOf(scene) }),
  },
  {
    name: 'another content type',
    in: any,
    reports: SOME,
    falls: true,
    play: (scene) =>
      play(scene, {
        head: {
          status: 200,
          headers: { 'content-type': scene.mode.streaming ? 'application/json' : 'text/plain' },
        },
        pieces: piecesOf(scene),
      }),
  },
  {
    name: 'a stream that was not asked for',
    in: whole,
    reports: SOME,
    falls: true,
    // Where the answer is inspected or translated, Relay hangs up as soon as it begins.
    play: async (scene) => ({
      ...(await completePlay({ ...scene, mode: { ...scene.mode, streaming: true } })),
      gapMs: REFUSED_MS,
    }),
  },
  {
    name: 'one piece instead of a stream',
    in: stream,
    reports: SOME,
    falls: true,
    play: (scene) => completePlay(inOnePiece(scene)),
  },
  {
    name: 'compressed without its end',
    in: gzip,
    reports: USUAL,
    falls: true,
    play: (scene) => play(scene, { pieces: piecesOf(scene), gzipEnd: 'no trailer' }),
  },
  {
    name: 'above 8 MiB',
    in: both(whole, not(gzip)),
    reports: ALL,
    early: true,
    play: (scene) => bigPlay(scene, 'clean'),
  },
  {
    name: 'above 8 MiB, usage last',
    in: both(whole, not(gzip), not(isTranslated)),
    reports: SOME,
    // A guardrail gets no answer of this size: Relay hangs up before the usage.
    unguarded: true,
    play: (scene) => bigPlay(scene, 'clean'),
  },
  ...cutOrHold('above 8 MiB', { in: both(whole, not(gzip)), reports: SOME, early: true }, (scene, end) =>
    bigPlay(scene, end),
  ),
];

function bigPlay(scene: Scene, end: Play['end']): Promise<Play> {
  const pieces = piecesOf({ ...scene, telling: { ...scene.telling, padding: BIG_BYTES } });
  return play(scene, { pieces, end, missing: end === 'clean' ? 0 : 100 });
}

const streams: readonly End[] = [
  ...(['preamble', 'content'] as const).map(
    (stage): End => ({
      name: `a frame of 600 KB, ${stage}`,
      in: stream,
      reports: SOME,
      play: (scene) => {
        const before = framesBefore(scene, 'content');
        const large = largeFrame(scene.mode.wire, stage, LARGE_FRAME_BYTES);
        return play(scene, { pieces: [...before, large, ...piecesOf(scene).slice(before.length)] });
      },
    }),
  ),
  {
    name: 'no last frame',
    in: stream,
    reports: USUAL,
    play: (scene) => play(scene, { pieces: framesBefore(scene, 'done') }),
  },
  {
    name: 'an error before content',
    in: stream,
    reports: USUAL,
    falls: true,
    play: (scene) => {
      const [report] = scene.telling.reports;
      const start = framesBefore({ ...scene, telling: { reports: [] } }, 'content');
      return play(scene, { pieces: [...start, errorFrame(scene.mode.wire, report)] });
    },
  },
  {
    name: 'an error before content, after usage',
    in: stream,
    reports: USUAL,
    early: true,
    falls: true,
    play: (scene) =>
      play(scene, {
        pieces: [...framesBefore(scene, 'content'), errorFrame(scene.mode.wire, undefined)],
      }),
  },
  {
    name: 'an error after content',
    in: stream,
    reports: USUAL,
    play: (scene) => {
      const [report] = scene.telling.reports;
      const start = framesBefore({ ...scene, telling: { reports: [] } }, 'closing');
      return play(scene, { pieces: [...start, errorFrame(scene.mode.wire, report)] });
    },
  },
  {
    name: 'an error after content and usage',
    in: stream,
    reports: USUAL,
    early: true,
    play: (scene) =>
      play(scene, {
        pieces: [...framesBefore(scene, 'closing'), errorFrame(scene.mode.wire, undefined)],
      }),
  },
  {
    name: 'a frame that is not translatable',
    in: both(stream, isTranslated),
    reports: USUAL,
    early: true,
    falls: true,
    play: (scene) =>
      play(scene, { pieces: [...framesBefore(scene, 'content'), foreignFrame(scene.mode.wire)] }),
  },
  {
    name: 'a frame after content that is not translatable',
    in: both(stream, isTranslated),
    reports: USUAL,
    early: true,
    play: (scene) =>
      play(scene, { pieces: [...framesBefore(scene, 'closing'), foreignFrame(scene.mode.wire)] }),
  },
];

/** An error in one piece, whatever was asked for. */
function errorPlay(scene: Scene, status: number, padding = 0, more: Partial<Play> = {}): Promise<Play> {
  const one = inOnePiece(scene);
  const pieces = errorBody(scene.mode.wire, scene.telling.reports.at(-1), padding, scene.telling.early);
  return play(one, { head: headOf(one, status), pieces, ...more });
}

const withRetryAfter = (scene: Scene, status: number): Promise<Play> =>
  errorPlay(scene, status, 0, {
    head: { status, headers: { 'content-type': 'application/json', 'retry-after-ms': '100' } },
  });

const STATUSES = [307, 400, 401, 402, 403, 404, 408, 409, 422, 429, 500, 502, 503, 504, 529] as const;
const CREDENTIAL: readonly number[] = [401, 402, 403];
const CLIENTS_OWN: readonly number[] = [400, 422];

const statuses: readonly End[] = [
  ...STATUSES.map(
    (status): End => ({
      name: `status ${status}`,
      in: any,
      reports: status === 500 || status === 400 ? USUAL : SOME,
      falls: !CLIENTS_OWN.includes(status),
      ...(CREDENTIAL.includes(status) ? { rest: 'credential' as const } : {}),
      play: (scene) => errorPlay(scene, status),
    }),
  ),
  ...[429, 503].map(
    (status): End => ({
      name: `status ${status} with Retry-After`,
      in: any,
      reports: SOME,
      falls: true,
      again: true,
      rest: 'cooldown',
      play: (scene) => withRetryAfter(scene, status),
    }),
  ),
  ...[400, 402, 500].flatMap((status): End[] => {
    const common = { in: any, falls: !CLIENTS_OWN.includes(status), reports: SOME };
    const rest = CREDENTIAL.includes(status) ? { rest: 'credential' as const } : {};
    const end = (name: string, make: End['play'], more: Partial<End> = {}): End => ({
      ...common,
      ...rest,
      ...more,
      name: `status ${status}, ${name}`,
      play: make,
    });
    return [
      end(
        '20 KiB',
        (scene) => errorPlay(scene, status, LARGE_ERROR_BYTES),
        status === 402 ? { early: true } : {},
      ),
      end('1.1 MB, usage first', (scene) => errorPlay(scene, status, HUGE_ERROR_BYTES), { early: true }),
      end('slow, usage first', (scene) => errorPlay(scene, status, 0, { pauseMs: SLOW_MS }), { early: true }),
      end(
        'cut, usage first',
        (scene) =>
          errorPlay(scene, status).then((made) => ({
            ...made,
            pieces: firstOf(made.pieces),
            missing: 100,
            end: 'cut',
          })),
        { early: true },
      ),
      end('as an event stream', (scene) =>
        play(
          { ...scene, mode: { ...scene.mode, streaming: true } },
          {
            head: { status, headers: { 'content-type': 'text/event-stream' } },
            pieces: [errorFrame(scene.mode.wire, scene.telling.reports.at(-1))],
          },
        ),
      ),
    ];
  }),
];

export const ends: readonly End[] = [...places, ...wholes, ...streams, ...statuses];
