import { ProgramError } from '../kit/program-error.ts';
import { count, milliseconds } from '../output/cells.ts';
import { type Check, type Examination, type Finding, fail, note, ok, warn } from './finding.ts';
import { type Health, readHealth } from './read-health.ts';

/** The ledger is a few seconds behind at any time. */
const LAG_MS_MAX = 60_000;

/** Whether usage reaches the ledger, and whether live limits agree with it. */
export const checkMetering: Check = async (examination) => {
  const { metering, ledger } = await readHealth(examination);
  const findings: Finding[] = ledger === undefined ? [] : ledgerFindings(ledger);
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
  findings.push(...lostUsage(await readMetrics(examination)));
  if (findings.length > 0) return findings;
  const isCompared = metering !== undefined && metering.compared_at !== null && metering.unsettled === 0;
  return [
    ok(
      'metering',
      isCompared
        ? 'The ledger is up to date and agrees with the limits.'
        : 'The ledger is up to date. Whether it agrees with the limits, only a worker knows after its first comparison.',
    ),
  ];
};

/** What is not known is a finding too: it must not read as if all were well. */
export function ledgerFindings(ledger: NonNullable<Health['ledger']>): Finding[] {
  const { workers, waiting_entries: waiting, lag_ms: lagMs, spooled_entries: spooled } = ledger;
  const findings: Finding[] = [];
  if (workers === null || waiting === null || lagMs === null)
    findings.push(
      note(
        'metering',
        'It is not known whether usage reaches the ledger: this process has not read the usage streams yet.',
        'Run it again in 10 seconds.',
      ),
    );
  else if (workers === 0)
    findings.push(
      fail(
        'metering',
        waiting === 0
          ? 'No worker is running.'
          : `No worker is running: usage waits, the oldest for ${milliseconds(lagMs)}.`,
        'Start one. Run: `relay serve --role worker`',
      ),
    );
  else if (lagMs > LAG_MS_MAX)
    findings.push(
      warn(
        'metering',
        `The ledger is ${milliseconds(lagMs)} behind: ${count(waiting, 'usage entry', 'usage entries')} wait.`,
        'Read the worker’s log. If it works, start another one. Run: `relay serve --role worker`',
      ),
    );
  if (spooled > 0) {
    const message = `The usage of ${count(spooled, 'settled request')} is on disk, not in Redis.`;
    findings.push(warn('metering', message, 'Relay sends it automatically. If it stays, restore Redis.'));
  }
  return findings;
}

function lostUsage(metrics: ReadonlyMap<string, number>): Finding[] {
  const findings: Finding[] = [];
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
