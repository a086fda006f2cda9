import type { Call } from '../../http/call.ts';
import { type CursorList, cursorAt, positionAt, unknownCursor } from './cursor.ts';
import { setNextPage } from './paging.ts';

type PresetRoute = 'listGuardrailPresets' | 'listProviderPresets';
type ListCall = Pick<Call<PresetRoute>, 'caller' | 'query' | 'setHeader'>;

/** Presets are few and have no ids, so pages continue after a slug. */
export function listPresets<Item extends { readonly slug: string }>(
  call: ListCall,
  route: PresetRoute,
  presets: readonly Item[],
): readonly Item[] {
  const { limit, cursor } = call.query;
  const list = { route, organizationId: call.caller.organizationId };
  const from = cursor === undefined ? 0 : afterCursor(list, presets, cursor);
  const page = presets.slice(from, limit === undefined ? undefined : from + limit);
  const last = page.at(-1);
  if (limit !== undefined && last !== undefined && from + page.length < presets.length) {
    setNextPage(call, route, { limit, cursor: cursorAt(list, Buffer.from(last.slug)) });
  }
  return page;
}

function afterCursor(
  list: CursorList,
  presets: readonly { readonly slug: string }[],
  cursor: string,
): number {
  const after = positionAt(list, cursor).toString();
  const at = presets.findIndex(({ slug }) => slug === after);
  if (at === -1) throw unknownCursor();
  return at + 1;
}
