import { crc32 } from 'node:zlib';

/**
 * Content whose every frame names its stream, its place and its checksum:
 * `<tag:index/total:crc32:payload>`. A reader of the joined text can prove that no frame was
 * lost, repeated, reordered, changed, or taken from another stream.
 */
const frameShape = /<([^<>:]*):(\d+)\/(\d+):([0-9a-f]{8}):([^<>]*)>/g;
const filler = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** A tag stands inside the frame's own punctuation. */
export function safeTag(tag: string): string {
  return tag.replace(/[<>:]/g, '_');
}

function checksum(tag: string, index: number, total: number, payload: string): string {
  return crc32(`${tag}:${index}/${total}:${payload}`).toString(16).padStart(8, '0');
}

/** A frame of `bytes` bytes of UTF-8, or of its smallest size where that is more. */
export function indexedFrame(tag: string, index: number, total: number, bytes: number): string {
  const overhead = Buffer.byteLength(`<${tag}:${index}/${total}:00000000:>`);
  const payload = payloadOf(index, Math.max(0, bytes - overhead));
  return `<${tag}:${index}/${total}:${checksum(tag, index, total, payload)}:${payload}>`;
}

/** Begins with a character of four bytes, so that a split between bytes can fall inside it. */
function payloadOf(index: number, bytes: number): string {
  const ascii = bytes >= 4 ? bytes - 4 : bytes;
  const start = index % filler.length;
  const turns = Math.ceil(ascii / filler.length) + 1;
  return (bytes >= 4 ? '🙂' : '') + filler.repeat(turns).slice(start, start + ascii);
}

export interface FrameReport {
  ok: boolean;
  frames: number;
  total: number;
  tag: string | null;
  lost: number[];
  repeated: number[];
  reordered: number[];
  changed: number[];
  /** Text between frames, frames of other streams or of another total. */
  foreign: string[];
}

/** Judges the text put together from a stream that was asked for with `frames`. */
export function verifyFrames(text: string, expected: { frames?: number; tag?: string } = {}): FrameReport {
  const report: FrameReport = {
    ok: false,
    frames: 0,
    total: expected.frames ?? 0,
    tag: expected.tag === undefined ? null : safeTag(expected.tag),
    lost: [],
    repeated: [],
    reordered: [],
    changed: [],
    foreign: [],
  };
  const seen = new Set<number>();
  let highest = -1;
  let end = 0;
  for (const match of text.matchAll(frameShape)) {
    const [whole, tag = '', indexText = '', totalText = '', crc = '', payload = ''] = match;
    if (match.index > end) report.foreign.push(text.slice(end, match.index));
    end = match.index + whole.length;
    const index = Number(indexText);
    const total = Number(totalText);
    report.tag ??= tag;
    if (report.total === 0) report.total = total;
    if (tag !== report.tag || total !== report.total) {
      report.foreign.push(whole);
      continue;
    }
    report.frames += 1;
    if (checksum(tag, index, total, payload) !== crc) report.changed.push(index);
    if (seen.has(index)) report.repeated.push(index);
    else if (index < highest) report.reordered.push(index);
    seen.add(index);
    highest = Math.max(highest, index);
  }
  if (end < text.length) report.foreign.push(text.slice(end));
  for (let index = 0; index < report.total; index += 1) if (!seen.has(index)) report.lost.push(index);
  const faults = [report.lost, report.repeated, report.reordered, report.changed, report.foreign];
  report.ok = report.total > 0 && faults.every((list) => list.length === 0);
  return report;
}
