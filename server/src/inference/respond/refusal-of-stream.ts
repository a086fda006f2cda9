import type { ReplyDeps } from './reply-deps.ts';

/** Returns why Relay cannot use a stream in place of the answer that it requested. Null: Relay can use it. */
export function refusalOfStream(
  { whole, translator }: Pick<ReplyDeps, 'whole' | 'translator'>,
  encoding: string | null,
): string | null {
  if (whole) return 'it returned a stream that wasn’t requested';
  if (translator === null || encoding === null) return null;
  return 'it sent a compressed stream that wasn’t requested and can’t be translated';
}
