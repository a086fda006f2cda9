import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { type MigratedDatabase, migratedDatabase } from '../../store/fixtures/migrated-database.fixture.ts';
import { tables } from '../../store/postgres/schema.ts';
import { resources } from './resource-list.ts';

interface ColumnRow {
  readonly table_name: string;
  readonly column_name: string;
  readonly udt_name: string;
  readonly is_nullable: 'YES' | 'NO';
}

describe('the tables of the database', () => {
  let migrated: MigratedDatabase;
  let rows: readonly ColumnRow[] = [];
  before(async () => {
    migrated = await migratedDatabase();
    const found = await sql<ColumnRow>`
      select c.table_name, c.column_name, c.udt_name, c.is_nullable
      from information_schema.columns c
      join pg_class on pg_class.relname = c.table_name and not pg_class.relispartition
      where c.table_schema = 'public'`.execute(migrated.db);
    rows = found.rows;
  });
  after(() => migrated.drop());

  it('are all described, by the store or by the resource that has them', () => {
    const known = new Set([...Object.keys(tables), ...resources.map(({ table }) => table.name)]);
    const unknown = rows.map((row) => row.table_name).filter((name) => !known.has(name));
    assert.deepEqual(unknown, []);
  });

  it('take along, when a row is deleted, only rows of resources that name that parent', async () => {
    const found = await sql<{ child: string; parent: string }>`
      select conrelid::regclass::text as child, confrelid::regclass::text as parent
      from pg_constraint where contype = 'f' and confdeltype = 'c'`.execute(migrated.db);
    const names = new Set(resources.map(({ table }) => table.name));
    const stored = found.rows
      .filter(({ child, parent }) => names.has(child) && parent !== 'organizations')
      .map(({ child, parent }) => `${child} below ${parent}`);
    const declared = resources.flatMap(({ table, parents }) =>
      parents.map((parent) => `${table.name} below ${parent.table}`),
    );
    assert.deepEqual(declared.toSorted(), [...new Set(stored)].toSorted());
  });

  for (const { table } of resources) {
    it(`have the columns that the resource of ${table.name} describes`, () => {
      const described = Object.entries(table.columns).map(([name, { type, nullable }]) => [
        name,
        type,
        nullable,
      ]);
      const stored = rows
        .filter((row) => row.table_name === table.name)
        .map((row) => [row.column_name, row.udt_name, row.is_nullable === 'YES']);
      assert.deepEqual(described.toSorted(), stored.toSorted());
    });
  }
});
