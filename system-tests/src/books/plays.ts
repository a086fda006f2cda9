import { constants, createGzip } from 'node:zlib';
import { type Telling, wholeAnswer } from './answers.ts';
import type { Head, Piece, Play, Report } from './bill.ts';
import { type Frame, streamFrames } from './frames.ts';
import { isTranslated, type Mode } from './modes.ts';

/** What an attempt at the provider is about: the mode of the request, and what the provider tells. */
export interface Scene {
  readonly mode: Mode;
  readonly telling: Telling;
}

/** So long Relay may take to hang up. */
export const REFUSED_MS = 150;

const JSON_TYPE = { 'content-type': 'application/json' };
const STREAM_TYPE = { 'content-type': 'text/event-stream' };

export function headOf({ mode }: Scene, status = 200, type = mode.streaming ? STREAM_TYPE : JSON_TYPE): Head {
  return { status, headers: type };
}

/** A complete answer in the mode of the request. */
export function completePlay(scene: Scene): Promise<Play> {
  return play(scene, { pieces: piecesOf(scene) });
}

export function piecesOf({ mode, telling }: Scene): readonly Piece[] {
  return mode.streaming ? streamFrames(mode.wire, telling) : wholeAnswer(mode.wire, telling);
}

/** The frames before the first of this stage. */
export function framesBefore({ mode, telling }: Scene, stage: Frame['stage']): Frame[] {
  const frames = streamFrames(mode.wire, telling);
  const at = frames.findIndex((frame) => frame.stage === stage);
  return frames.slice(0, at < 0 ? frames.length : at);
}

export interface PlayParts extends Partial<Play> {
  readonly pieces: readonly Piece[];
  /** How much of a compressed body arrives. */
  readonly gzipEnd?: 'whole' | 'no trailer' | 'open';
}

/** The play of these parts, compressed where the mode says so. */
export async function play(scene: Scene, parts: PlayParts): Promise<Play> {
  const { gzipEnd, ...given } = parts;
  const made: Play = {
    head: headOf(scene),
    framing: scene.mode.streaming ? 'chunked' : 'length',
    end: 'clean',
    ...given,
  };
  if (!scene.mode.gzip || made.head === null || typeof made.head === 'string') return made;
  const isRefused = scene.mode.streaming && isTranslated(scene.mode);
  const whole = made.end === 'clean' && (made.missing ?? 0) === 0;
  const pieces = await compressed(made.pieces, gzipEnd ?? (whole ? 'whole' : 'open'));
  const { status, headers } = made.head;
  const pause = isRefused ? { gapMs: REFUSED_MS } : {};
  return { ...made, ...pause, pieces, head: { status, headers: { ...headers, 'content-encoding': 'gzip' } } };
}

/** Each piece can be decoded as soon as it has arrived. */
async function compressed(pieces: readonly Piece[], end: 'whole' | 'no trailer' | 'open'): Promise<Piece[]> {
  const gzip = createGzip();
  const chunks: Buffer[] = [];
  gzip.on('data', (chunk: Buffer) => chunks.push(chunk));
  const taken = () => Buffer.concat(chunks.splice(0));
  const done: Piece[] = [];
  for (const { bytes, report } of pieces) {
    gzip.write(bytes);
    await new Promise<void>((resolve) => gzip.flush(constants.Z_SYNC_FLUSH, () => resolve()));
    done.push({ bytes: taken(), ...(report === undefined ? {} : { report }) });
  }
  if (end === 'open') {
    gzip.destroy();
    return done;
  }
  const ended = new Promise((resolve) => gzip.once('end', resolve));
  gzip.end();
  await ended;
  const rest = taken();
  return [...done, { bytes: end === 'whole' ? rest : rest.subarray(0, -4) }];
}

/** What each attempt of a request uses, so that no two are alike. */
export function numbersOf(index: number): Required<Report> {
  return { input: 11 + (index % 41), cached: index % 5, output: 7 + (index % 29) };
}
