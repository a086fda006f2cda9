// Loaded into a server process before anything else: takes the organization out of every condition of every statement
// that works for one organization, as if all of those queries had forgotten it. Statements that work for the deployment
// (doors, snapshots, worker) are left alone, because nothing stands behind them.
import pg from 'pg';

/** The server sets the role and organization of a connection as it begins a transaction, with which they end. */
const BEGINS = /^\s*(?:begin|start transaction)\b.*set_config\('role', 'relay_app'/is;
const ENDS = /^\s*(?:commit|rollback)\s*$/i;
/** `"organization_id" = $1`, `member.organization_id = $2`; the parameter stays in use, or PostgreSQL would not know its type. */
const PREDICATE = /(?:"?\w+"?\.)?"?organization_id"? = \$(\d+)(?!\d)/g;
const CHANGES_OR_READS = /^\s*(?:select|update|delete|with)\b/i;

type Query = (this: pg.Client, ...args: unknown[]) => unknown;
const prototype = pg.Client.prototype as unknown as { query: Query };
const { query } = prototype;
const confined = new WeakSet<pg.Client>();

function withoutPredicate(text: string): string {
  return CHANGES_OR_READS.test(text) ? text.replaceAll(PREDICATE, '($$$1)::uuid is not null') : text;
}

prototype.query = function (config, ...rest) {
  const text = typeof config === 'string' ? config : (config as { text?: unknown } | null)?.text;
  if (typeof text !== 'string') return query.call(this, config, ...rest);
  if (BEGINS.test(text)) confined.add(this);
  if (ENDS.test(text)) confined.delete(this);
  if (!confined.has(this)) return query.call(this, config, ...rest);
  const changed = withoutPredicate(text);
  return query.call(
    this,
    typeof config === 'string' ? changed : { ...(config as object), text: changed },
    ...rest,
  );
};
