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
        `${count(drift, 'window')} of limits differ from the ledger.`,
        'run `relay limits usage` and `relay usage` and compare; the log of the worker names the policies',
      ),
    );
  }
  findings.push(...backlog(await readMetrics(examination)));
  return findings.length > 0 ? findings : [ok('metering', 'Usage is recorded, and limits agree with it.')];
};

function backlog(metrics: ReadonlyMap<string, number>): Finding[] {
  const findings: Finding[] = [];
  const waiting = metrics.get('relay_usage_stream_entries') ?? 0;
  if (waiting > STREAM_ENTRIES_MAX) {
    const message = `At least ${count(waiting, 'settled request')} are not in the ledger yet.`;
    findings.push(warn('metering', message, 'run `relay serve --role worker` to start another worker'));
  }
  const spooled = metrics.get('relay_spool_entries') ?? 0;
  if (spooled > 0) {
    const message = `${count(spooled, 'settled request')} wait on the disk of the gateway.`;
    findings.push(warn('metering', message, 'bring Redis back; the gateway hands them on by itself'));
  }
  const refused = metrics.get('relay_ledger_poisoned_total') ?? 0;
  if (refused > 0) {
    const message = `The ledger refused ${count(refused, 'usage record')}; they are kept.`;
    findings.push(
      warn('metering', message, 'find the cause in the log of the worker, then run `relay usage replay`'),
    );
  }
  const dropped = metrics.get('relay_spool_dropped_total') ?? 0;
  if (dropped > 0) {
    const message = `The usage of ${count(dropped, 'request')} had no room on the disk and is lost.`;
    findings.push(
      fail('metering', message, 'give the gateway more room: RELAY_SPOOL_DIR, RELAY_SPOOL_BYTES_MAX'),
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
