import type { Call } from '../../http/call.ts';
import { setNextPage, unknownCursor } from './paging.ts';

type PresetRoute = 'listGuardrailPresets' | 'listProviderPresets';
type ListCall = Pick<Call<PresetRoute>, 'query' | 'setHeader'>;

/** Presets are few and have no ids, so pages continue after a slug. */
export function listPresets<Item extends { readonly slug: string }>(
  call: ListCall,
  route: PresetRoute,
  presets: readonly Item[],
): readonly Item[] {
  const { limit, cursor } = call.query;
  const from = cursor === undefined ? 0 : afterCursor(presets, cursor);
  const page = presets.slice(from, limit === undefined ? undefined : from + limit);
  const last = page.at(-1);
  if (limit !== undefined && last !== undefined && from + page.length < presets.length) {
    setNextPage(call, route, { limit, cursor: cursorOf(last) });
  }
  return page;
}

function afterCursor(presets: readonly { readonly slug: string }[], cursor: string): number {
  const at = presets.findIndex((preset) => cursorOf(preset) === cursor);
  if (at === -1) throw unknownCursor();
  return at + 1;
}

function cursorOf({ slug }: { readonly slug: string }): string {
  return Buffer.from(slug).toString('base64url');
}
