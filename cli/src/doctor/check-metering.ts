import { ProgramError } from '../kit/program-error.ts';
import { count } from '../output/cells.ts';
import { type Check, type Examination, type Finding, fail, ok, warn } from './finding.ts';
import { readHealth } from './read-health.ts';

const STREAM_ENTRIES_MAX = 10_000;

/** Whether usage reaches the ledger, and whether live limits agree with it. */
export const checkMetering: Check = async (examination) => {
  const { metering } = await readHealth(examination);
  const findings: Finding[] = [];
  const drift = metering?.drift ?? 0;
  if (drift > 0) {
    findings.push(
      warn(
        'metering',
        `${count(drift, 'limit window')} ${drift === 1 ? 'differs' : 'differ'} from the ledger.`,
        'Compare with `relay usage`; the worker’s log names the limits. Run: `relay limits usage`',
      ),
    );
  }
  findings.push(...backlog(await readMetrics(examination)));
  return findings.length > 0
    ? findings
    : [ok('metering', 'The ledger is up to date and agrees with the limits.')];
};

function backlog(metrics: ReadonlyMap<string, number>): Finding[] {
  const findings: Finding[] = [];
  const waiting = metrics.get('relay_usage_stream_entries') ?? 0;
  if (waiting > STREAM_ENTRIES_MAX) {
    const message = `At least ${count(waiting, 'settled request')} are not in the ledger yet.`;
    findings.push(warn('metering', message, 'Start another worker. Run: `relay serve --role worker`'));
  }
  const spooled = metrics.get('relay_spool_entries') ?? 0;
  if (spooled > 0) {
    const message = `The usage of ${count(spooled, 'settled request')} is on disk, not in Redis.`;
    findings.push(warn('metering', message, 'Restore Redis; Relay then sends the usage automatically.'));
  }
  const refused = metrics.get('relay_ledger_poisoned_total') ?? 0;
  if (refused > 0) {
    const them = refused === 1 ? 'it' : 'them';
    const message = `The ledger rejected ${count(refused, 'usage record')}; Relay kept ${them}.`;
    findings.push(
      warn(
        'metering',
        message,
        `Find the cause in the worker’s log, then replay ${them}. Run: \`relay usage replay\``,
      ),
    );
  }
  const dropped = metrics.get('relay_spool_dropped_total') ?? 0;
  if (dropped > 0) {
    const message = `The usage of ${count(dropped, 'request')} is lost: the spool was full.`;
    findings.push(
      fail('metering', message, 'Raise RELAY_SPOOL_BYTES_MAX, or set RELAY_SPOOL_DIR to a larger disk.'),
    );
  }
  return findings;
}

/** Metrics without labels; empty if the server does not allow reading them from here. */
async function readMetrics({ api, surroundings }: Examination): Promise<ReadonlyMap<string, number>> {
  try {
    // The token belongs to one deployment, so it is only sent to a server named next to it, never to a login
    // context's server.
    const token = api.connection.contextName === null ? surroundings.env['RELAY_METRICS_TOKEN'] : undefined;
    const text = await api.text('/metrics', token || null);
    const samples = text.matchAll(/^(relay_\w+) ([\d.e+]+)$/gm);
    return new Map([...samples].map(([, name = '', value]) => [name, Number(value)]));
  } catch (error) {
    if (error instanceof ProgramError) return new Map();
    throw error;
  }
}
