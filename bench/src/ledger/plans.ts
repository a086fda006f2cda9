import { setTimeout as sleep } from 'node:timers/promises';
import type { Deployment } from './deployment.ts';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly PlanNode[];
}

const LOG_MS_MAX = 10_000;

/** The plans of every statement that PostgreSQL ran meanwhile, as it logged them itself. */
export async function plansDuring({ client }: Deployment, work: () => Promise<void>): Promise<PlanNode[]> {
  await client.query(`load 'auto_explain'`);
  await explainFrom(client, 0);
  const mark = `the plans end here ${performance.now()}`;
  try {
    await work();
  } finally {
    await explainFrom(client, -1);
  }
  await client.query(`do $$ begin raise log '${mark}'; end $$`);
  return (await logUntil(client, mark)).flatMap(planOf);
}

async function explainFrom(client: Deployment['client'], durationMs: number): Promise<void> {
  await client.query(`alter system set auto_explain.log_min_duration = ${durationMs}`);
  await client.query('select pg_reload_conf()');
  // Sessions take a new setting at their next statement, once they were told of it.
  await sleep(200);
}

/** The collector writes on its own time. */
async function logUntil(client: Deployment['client'], mark: string): Promise<string[]> {
  const endMs = performance.now() + LOG_MS_MAX;
  for (;;) {
    const { rows } = await client.query<{ text: string }>(
      `select pg_read_file(pg_current_logfile('jsonlog')) as text`,
    );
    const lines = (rows[0]?.text ?? '').split('\n').filter((line) => line !== '');
    const messages = lines.map((line) => String((JSON.parse(line) as { message?: string }).message));
    if (messages.some((message) => message === mark)) return messages;
    if (performance.now() > endMs) throw new Error('PostgreSQL does not write its log');
    await sleep(100);
  }
}

function planOf(message: string): PlanNode[] {
  const plan = /^duration: .*? plan:\n([\s\S]*)$/.exec(message)?.[1];
  return plan === undefined ? [] : [(JSON.parse(plan) as { Plan: PlanNode }).Plan];
}

/** The days of the ledger that have rows. Those ahead have none, and PostgreSQL reads nothing when it reads them whole. */
export async function filledDays({ client }: Deployment): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ name: string }>(`
    select inhrelid::regclass::text as name from pg_inherits
    where inhparent = 'requests'::regclass and pg_relation_size(inhrelid) > 0`);
  return new Set(rows.map(({ name }) => name));
}

/** Parts of these plans that read one of these tables from one end to the other. */
export function sequentialScans(plans: readonly PlanNode[], tables: ReadonlySet<string>): number {
  return plans.reduce((sum, plan) => {
    const isScan = plan['Node Type'] === 'Seq Scan' && tables.has(plan['Relation Name'] ?? '');
    return sum + (isScan ? 1 : 0) + sequentialScans(plan.Plans ?? [], tables);
  }, 0);
}
