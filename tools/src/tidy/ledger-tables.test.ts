import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ledgerTables } from './ledger-tables.ts';
import { treeOf } from './tree.ts';

const TABLES = {
  'server/src/store/postgres/ledger-tables.ts':
    'export const ledgerTables = {\n  requests: {\n    status: smallint,\n  },\n  request_rollups: {\n  },\n};\n',
};
const found = (path: string, text: string) => ledgerTables(treeOf({ ...TABLES, [path]: text })).length;

test('every way to name a table of the ledger in production code is refused', () => {
  for (const text of [
    'await sql`select 1 from requests`',
    'join requests as log on true',
    "db.selectFrom('requests')",
    "db.selectFrom('requests as log')",
    "db.insertInto('requests').values(row)",
    "where inhparent = 'requests'::regclass",
    "const column = 'requests.status';",
    "type Row = Selectable<Database['requests']>;",
    'sql`lock table requests`',
    "removeRows('request_rollups_minute')",
    'left join request_rollups as usage',
  ]) {
    assert.equal(found('server/src/management/stats/queries.ts', text), 1, text);
    assert.equal(found('server/src/metering/worker.ts', text), 1, text);
  }
});

test('the ledger module, tests, fixtures and ordinary words are accepted', () => {
  const text = "db.selectFrom('requests')";
  assert.equal(found('server/src/store/ledger/log/read-log.ts', text), 0);
  assert.equal(found('server/src/metering/metering.db.test.ts', text), 0);
  assert.equal(found('server/src/management/requests/ledger.fixture.ts', text), 0);
  for (const words of [
    "metric: 'requests'",
    ' * Removes the model name from requests.',
    '// taken from requests that failed',
    "usage('requests', 'tokens')",
    'filename="requests.csv"',
  ])
    assert.equal(found('server/src/inference/pipeline.ts', words), 0, words);
});

test('a schema whose tables cannot be read is refused', () => {
  assert.equal(ledgerTables(treeOf({ 'server/src/main/a.ts': '' })).length, 1);
});
