import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import type { Quantity } from '../../domain/limits/metric.ts';
import { isSliding } from '../../domain/limits/period.ts';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import type { Database } from '../../store/postgres/schema.ts';
import type { LedgerStore } from './ledger-store.fixture.ts';
import type { Link } from './network.fixture.ts';

interface Answers {
  readonly ledger: LedgerStore;
  readonly organizations: ReadonlyMap<string, OrganizationSnapshot>;
}

/** Answers the few statements that workers make beside writing rows: those of partitions, and those of the reconciliation. */
export function createDatabase(link: Link, answers: Answers): Kysely<Database> {
  const connection: DatabaseConnection = {
    executeQuery: <R>(query: CompiledQuery) =>
      link.call('a statement', (): QueryResult<R> => ({ rows: answerTo(query, answers) as R[] })),
    async *streamQuery() {
      yield* [];
    },
  };
  const nothing = async () => undefined;
  const driver: Driver = {
    init: nothing,
    acquireConnection: async () => connection,
    beginTransaction: nothing,
    commitTransaction: nothing,
    rollbackTransaction: nothing,
    releaseConnection: nothing,
    destroy: nothing,
  };
  return new Kysely<Database>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => driver,
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}

function answerTo({ sql, parameters }: CompiledQuery, { ledger, organizations }: Answers): unknown[] {
  const [first] = parameters;
  // Every partition exists, and nothing is old enough to be removed.
  if (sql.includes('pg_inherits') && Array.isArray(first)) return first.map((relname) => ({ relname }));
  // Two workers may compare at the same time here: what one corrected, the other leaves.
  if (sql.includes('pg_try_advisory_xact_lock')) return [{ taken: true }];
  if (sql.includes('limit_policies')) return sql.includes('counted_from') ? [] : policiesIn(organizations);
  if (sql.includes('select array[')) return [{ amounts: sumsOf(sql, parameters, ledger) }];
  // No run crosses the beginning of a window.
  if (sql.includes('with near as')) return [{ seen: 0, requests: 0, tokens: 0, spend: 0 }];
  return [];
}

function policiesIn(organizations: Answers['organizations']): unknown[] {
  return [...organizations].flatMap(([organizationId, { limitPolicies }]) =>
    limitPolicies
      .filter(({ period }) => period !== 'none' && !isSliding(period))
      .map((policy) => ({ kind: 'resource', subjectId: null, organizationId, ...policy })),
  );
}

const QUANTITY_OF: readonly (readonly [string, Quantity])[] = [
  ['requests_metered + further_attempts', 'requests'],
  ['input_tokens', 'tokens'],
  ['cost_micros', 'spend'],
];

/** One sum for each window that the statement asks for. */
function sumsOf(sql: string, parameters: readonly unknown[], ledger: LedgerStore): string[] {
  return sql
    .split('(select sum(')
    .slice(1)
    .map((part) => {
      const values = [...part.matchAll(/\$(\d+)/g)].map(([, number]) => parameters[Number(number) - 1]);
      const quantity = QUANTITY_OF.find(([column]) => part.startsWith(column))?.[1];
      const start = values.at(-1);
      if (quantity === undefined || !(start instanceof Date))
        throw new Error(`the simulation cannot answer ${part}`);
      const isScoped = part.includes('"endpoint_id"');
      const counts = {
        userId: null,
        keyId: null,
        ...(isScoped
          ? ({ scopeType: 'endpoint', scopeId: String(values[1]) } as const)
          : ({ scopeType: 'global', scopeId: null } as const)),
      };
      return String(ledger.sum(String(values[0]), { metric: quantity, counts }, start.getTime()));
    });
}
