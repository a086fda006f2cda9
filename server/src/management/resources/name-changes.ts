import type { NameChange } from '@relay/contract';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { RelayError } from '../../domain/relay-error.ts';
import {
  type Meaning,
  type NamedEndpoint,
  type NamedLane,
  partsOf,
} from '../../domain/routing/callable-names.ts';
import { type ChangedName, changedNames, foldedName } from '../../domain/routing/changed-names.ts';
import type { Provider } from '../../domain/snapshot.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { lockNames } from './configuration-lock.ts';
import type { Row } from './rows.ts';

/** The columns that callable names come from. */
const LANE = ['id', 'name', 'slug', 'enabled', 'shadows_model'] as const;
const ENDPOINT = ['id', 'provider_id', 'upstream_model', 'enabled'] as const;

/** The tables whose rows bring callable names. */
export type NamedTable = 'lanes' | 'endpoints';

/** The rows of an organization that bring callable names. */
export interface NamedRows {
  readonly lanes: readonly Pick<Row<'lanes'>, (typeof LANE)[number]>[];
  readonly endpoints: readonly Pick<Row<'endpoints'>, (typeof ENDPOINT)[number]>[];
  readonly providers: readonly Pick<Row<'providers'>, 'id' | 'slug' | 'enabled'>[];
}

/** One written row, before and after; null where there is none. */
export interface NamedWrite {
  readonly table: NamedTable;
  readonly before: { readonly id: string } | null;
  readonly after: { readonly id: string } | null;
}

/** Throws 409 when a write that is made, but not committed, changes what names stand for. */
export async function demandNamesKept(
  db: Kysely<Database>,
  organizationId: string,
  write: NamedWrite,
): Promise<void> {
  if (!touchesNames(write)) return;
  const names = await namesIn(db, organizationId, write);
  await lockNames(db, organizationId);
  const after = await readNamedRows(db, organizationId, names);
  const { lanes, endpoints } = after;
  const before =
    write.table === 'lanes'
      ? { ...after, lanes: rowsBefore(lanes, write) }
      : { ...after, endpoints: rowsBefore(endpoints, write) };
  const [first] = nameChangesBetween(before, after);
  if (first !== undefined) throw nameTaken(first, paramOf(write));
}

/** The field that gives the new name; null for a write that ends or brings back a name. */
function paramOf({ table, before, after }: NamedWrite): string | null {
  const param = table === 'lanes' ? 'name' : 'upstream_model';
  const isGiven =
    after !== null && (before === null || Reflect.get(before, param) !== Reflect.get(after, param));
  return isGiven ? param : null;
}

/** The changes of names between two configurations, with what people call their meanings. */
export function nameChangesBetween(before: NamedRows, after: NamedRows): SaidChange[] {
  const changes = changedNames(sourcesOf(before), sourcesOf(after));
  return changes.map((change) => saidChange(change, [...before.lanes, ...after.lanes]));
}

export interface SaidChange {
  readonly change: NameChange;
  /** Of the lane that has the name before; null for a model. */
  readonly laneId: string | null;
}

/** A change with the slugs of its lanes, which may be from before or after it. Several lanes may have one name. */
export function saidChange(
  { name, kind, before, after }: ChangedName,
  lanes: Iterable<Pick<NamedLane, 'id' | 'slug'>>,
): SaidChange {
  const slugs = new Map([...lanes].map((lane) => [lane.id, lane.slug]));
  const said = (meaning: Meaning) => {
    const { kind: of, of: what } = partsOf(meaning);
    return { kind: of, name: of === 'lane' ? (slugs.get(what) ?? what) : what };
  };
  const { kind: of, of: what } = partsOf(before);
  return {
    change: { name, kind, before: said(before), after: said(after) },
    laneId: of === 'lane' ? what : null,
  };
}

export function nameTaken({ change, laneId }: SaidChange, param: string | null): RelayError {
  const { name, kind, before, after } = change;
  const [old, now] = [wordsOf(before), wordsOf(after)];
  const message =
    kind === 'taken'
      ? `"${name}" stands for ${old}. Requests that name it would go to ${now}. Use another name, or send takes_over: true if you want that.`
      : `"${name}" stands for ${old}, and a name of ${now} would differ from it at most in case or white space at its ends. Use another name, or send takes_over: true if you want both.`;
  const holder = laneId === null ? { model: before.name } : { lane: before.name, lane_id: laneId };
  return new RelayError('name_taken', { param, message, fields: { name, ...holder } });
}

function wordsOf({ kind, name }: NameChange['before']): string {
  return kind === 'lane' ? `the lane "${name}"` : `the model "${name}"`;
}

function touchesNames({ table, before, after }: NamedWrite): boolean {
  if (before === null || after === null) return before !== after;
  return (table === 'lanes' ? LANE : ENDPOINT).some(
    (column) => Reflect.get(before, column) !== Reflect.get(after, column),
  );
}

/** In the order of their IDs, which decides between two lanes of one name. */
function rowsBefore<T extends { readonly id: string }>(
  rows: readonly T[],
  { before, after }: NamedWrite,
): readonly T[] {
  const others = rows.filter(({ id }) => id !== after?.id);
  // Only a row of the same table is written.
  return before === null ? others : inIdOrder([...others, before as T]);
}

function inIdOrder<T extends { readonly id: string }>(rows: readonly T[]): readonly T[] {
  return rows.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

/** The names that the row brings before and after the write. */
async function namesIn(
  db: Kysely<Database>,
  organizationId: string,
  { table, before, after }: NamedWrite,
): Promise<string[]> {
  const rows = [before, after].filter((row) => row !== null);
  // Only rows of the table that the write names are written.
  if (table === 'lanes')
    return rows.flatMap((row) => {
      const { name, slug } = row as Row<'lanes'>;
      return [name, slug];
    });
  const endpoints = rows as Row<'endpoints'>[];
  const provider = await db
    .selectFrom('providers')
    .select('slug')
    .where('organization_id', '=', organizationId)
    .where('id', '=', endpoints[0]?.provider_id ?? '')
    .executeTakeFirst();
  return endpoints.flatMap(({ upstream_model: model }) => [model, `${provider?.slug}/${model}`]);
}

/**
 * The rows with one of the names, or with a name that may be like one: PostgreSQL folds only ASCII as JavaScript does, so rows with other
 * names are compared here. In one statement, because other writers wait meanwhile; and few rows, because there may be 10,000 lanes.
 */
async function readNamedRows(
  db: Kysely<Database>,
  organizationId: string,
  names: readonly string[],
): Promise<NamedRows> {
  const folded = names.map(foldedName);
  const isLike = (name: RawBuilder<unknown>) => sql`(${name} = any(${names})
    or lower(btrim(${name}, E' \\t\\n\\v\\f\\r')) = any(${folded}) or ${name} ~ '[^\\x01-\\x7f]')`;
  const called = sql`(providers.slug || '/' || endpoints.upstream_model)`;
  const { rows } = await sql<NamedRow>`
    select 'lane' as of, id, name, slug, null as provider_id, null as upstream_model, enabled, shadows_model
    from lanes where organization_id = ${organizationId} and (${isLike(sql`name`)} or ${isLike(sql`slug`)})
    union all
    select 'endpoint', endpoints.id, endpoints.name, endpoints.slug, provider_id, upstream_model, endpoints.enabled, false
    from endpoints
    join providers on providers.organization_id = endpoints.organization_id and providers.id = endpoints.provider_id
    where endpoints.organization_id = ${organizationId}
      and (${isLike(sql`endpoints.upstream_model`)} or ${isLike(called)})
    union all
    select 'provider', id, name, slug, null, null, enabled, false
    from providers where organization_id = ${organizationId}`.execute(db);
  const of = Map.groupBy(rows, (row) => row.of);
  return {
    lanes: of.get('lane') ?? [],
    endpoints: of.get('endpoint') ?? [],
    providers: of.get('provider') ?? [],
  };
}

interface NamedRow {
  readonly of: 'lane' | 'endpoint' | 'provider';
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  /** Of endpoints alone, as is the model. */
  readonly provider_id: string;
  readonly upstream_model: string;
  readonly enabled: boolean;
  readonly shadows_model: boolean;
}

function sourcesOf({ lanes, endpoints, providers }: NamedRows) {
  return {
    lanes: new Map(
      inIdOrder(lanes).map(({ shadows_model, ...lane }): [string, NamedLane] => [
        lane.id,
        { ...lane, shadowsModel: shadows_model },
      ]),
    ),
    endpoints: new Map(
      endpoints.map(({ provider_id, upstream_model, ...endpoint }): [string, NamedEndpoint] => [
        endpoint.id,
        { ...endpoint, providerId: provider_id, upstreamModel: upstream_model },
      ]),
    ),
    providers: new Map(
      providers.map((provider): [string, Pick<Provider, 'slug' | 'enabled'>] => [provider.id, provider]),
    ),
  };
}
