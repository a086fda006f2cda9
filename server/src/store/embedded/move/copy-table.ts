import type { Session } from '../../postgres/database-handle.ts';
import { type MovedTable, quoted } from './table-catalog.ts';

const BATCH_ROWS = 500;

/**
 * Copies a table in batches. Every value travels as PostgreSQL's own text, so no layer in between converts types. Both
 * sessions are in a transaction.
 */
export async function copyTable(from: Session, to: Session, table: MovedTable): Promise<void> {
  const name = quoted(table.name);
  const columns = table.columns.map((column) => quoted(column.name));
  const texts = columns.map((column, index) => `${column}::text as c${index}`);
  const arrays = columns.map((_, index) => `$${index + 1}::text[]`);
  const values = table.columns.map((column, index) => `c${index}::${column.type}`);
  const insert =
    `insert into ${name} (${columns.join(', ')}) overriding system value ` +
    `select ${values.join(', ')} from unnest(${arrays.join(', ')}) as given (${columns.map((_, index) => `c${index}`).join(', ')})`;

  // A team that has a parent comes after it.
  const order = table.columns.some((column) => column.name === 'parent_id')
    ? ' order by parent_id nulls first'
    : '';
  await from.query(`declare moved no scroll cursor for select ${texts.join(', ')} from ${name}${order}`);
  for (;;) {
    const { rows } = await from.query(`fetch ${BATCH_ROWS} from moved`);
    if (rows.length === 0) break;
    await to.query(
      insert,
      columns.map((_, index) => rows.map((row) => row[`c${index}`])),
    );
  }
  await from.query('close moved');
  await copySequences(from, to, table);
}

/** A sequence continues where it was. */
async function copySequences(from: Session, to: Session, table: MovedTable): Promise<void> {
  for (const column of table.columns) {
    const named = 'select pg_get_serial_sequence($1, $2) as sequence';
    const { rows } = await to.query(named, [quoted(table.name), column.name]);
    const sequence = rows[0]?.['sequence'];
    if (typeof sequence !== 'string') continue;
    const state = await from.query(`select last_value, is_called from ${sequence}`);
    await to.query('select setval($1, $2, $3)', [
      sequence,
      state.rows[0]?.['last_value'],
      state.rows[0]?.['is_called'],
    ]);
  }
}
