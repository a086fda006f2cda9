import type { components } from '@relay/contract/api-types';
import { count, dollars, plain } from '../output/cells.ts';

type Plan = components['schemas']['PricePlan'];
type Row = components['schemas']['PricePlanRow'];

const SIGNS = { add: '+', change: '~', removed: '-', ambiguous: '?' } as const;

/** The plan as text: each price that changes, is held back or needs a look, and how many others there are. */
export function planText({ rows, source, as_of }: Plan, accepted: readonly Row[]): string {
  const shown = rows.flatMap((row) => rowText(row, accepted.includes(row)));
  const held = rows.filter((row) => row.held_back !== null && !accepted.includes(row));
  const of = (action: Row['action']) => rows.filter((row) => row.action === action && !held.includes(row));
  const summary = [
    `${of('add').length} added`,
    `${of('change').length} changed`,
    `${held.length} held back`,
    `${of('removed').length} no longer listed`,
    `${of('ambiguous').length} ambiguous`,
    `${of('same').length} unchanged`,
    `${of('unlisted').length} not listed`,
  ];
  const [first] = held;
  const hint =
    first === undefined
      ? ''
      : `To set a price that is held back, add --accept ${plain(first.upstream_model)}.\n`;
  return `${shown.join('')}${source}, as of ${as_of.slice(0, 10)}: ${summary.join(', ')}.\n${hint}`;
}

function rowText(row: Row, isAccepted: boolean): string[] {
  const { action, held_back, managed_by_file } = row;
  if (action === 'same' || action === 'unlisted') return [];
  const why =
    managed_by_file && action !== 'removed'
      ? ' (managed by file: not set)'
      : held_back === null || isAccepted
        ? ''
        : ` (held back: ${held_back === 'zero' ? 'to zero' : `×${row.factor}`})`;
  const head = `${SIGNS[action]} ${plain(row.endpoint_name)} (${plain(row.upstream_model)})${why}`;
  return [[head, ...detailsOf(row)].map((line) => `${line}\n`).join('')];
}

function detailsOf({ action, changes, listed_as, current_source, current_as_of }: Row): string[] {
  if (action === 'removed')
    return [`    no longer listed; keeps its price from ${current_as_of?.slice(0, 10)}`];
  if (action === 'ambiguous')
    return [
      `    not set: ${count(listed_as.length, 'entry').replace('entrys', 'entries')} match: ${listed_as.map(plain).join(', ')}`,
    ];
  const was =
    current_source === null ? [] : [`    was ${current_source}, as of ${current_as_of?.slice(0, 10)}`];
  return [...was, ...changes.map(({ field, before, after }) => `    ${changeText(field, before, after)}`)];
}

function changeText(field: string, before: unknown, after: unknown): string {
  if (field === 'variants')
    return `variants: ${count(lengthOf(before), 'variant')} → ${count(lengthOf(after), 'variant')}`;
  const [was, is] = [before, after].map((value) => (typeof value === 'number' ? dollars(value) : 'none'));
  const unit =
    typeof after !== 'number' ? '' : field === 'flat_request_cost_micros' ? ' per request' : ' per 1M tokens';
  return `${field.replace(/_cost_micros.*$/, '').replaceAll('_', ' ')}: ${was} → ${is}${unit}`;
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}
