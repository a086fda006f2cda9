import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@relay/testbed';
import { until } from '../harness/until.ts';

const START_MS_MAX = 60_000;
const SCRAPE_MS_MAX = 20_000;

export interface Prometheus {
  /** The value of a query with one result; null without a result. */
  value(query: string): Promise<number | null>;
  /** Waits until a query has a result that is accepted; throws with the query otherwise. */
  untilValue(query: string, accepts: (value: number) => boolean): Promise<number>;
  /** Names of the alerts that fire now. */
  firing(): Promise<string[]>;
  stop(): Promise<void>;
}

export interface PrometheusOptions {
  readonly targets: readonly string[];
  readonly token: string;
  /** The text of a rule file, evaluated every second. */
  readonly rules?: string;
}

/** A real Prometheus that scrapes the addresses, as the guide sets it up but more often. */
export async function startPrometheus({ targets, token, rules }: PrometheusOptions): Promise<Prometheus> {
  const directory = mkdtempSync(join(tmpdir(), 'relay-prometheus-'));
  const file = join(directory, 'prometheus.yml');
  const port = await freePort();
  if (rules !== undefined) writeFileSync(join(directory, 'rules.yaml'), rules);
  const hosts = targets.map((target) => new URL(target).host);
  writeFileSync(file, configurationOf(hosts, token, rules !== undefined));
  const child = spawn(
    'prometheus',
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const exited = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  async function stop(): Promise<void> {
    process.off('exit', kill);
    kill();
    await exited;
    rmSync(directory, { recursive: true, force: true });
  }
  async function value(query: string): Promise<number | null> {
    const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(query)}`);
    const { data, error } = (await response.json()) as {
      data?: { result: { value: [number, string] }[] };
      error?: string;
    };
    if (data === undefined) throw new Error(`${query}: ${error}`);
    const [first, second] = data.result;
    if (second !== undefined) throw new Error(`${query} has ${data.result.length} results`);
    return first === undefined ? null : Number(first.value[1]);
  }
  const isReady = async () => (await fetch(`${url}/-/ready`)).status === 200;
  if (!(await until(isReady, START_MS_MAX))) {
    await stop();
    throw new Error(`prometheus does not answer:\n${errors}`);
  }
  return {
    value,
    async firing() {
      const response = await fetch(`${url}/api/v1/alerts`);
      const { data } = (await response.json()) as {
        data: { alerts: { state: string; labels: { alertname: string } }[] };
      };
      const firing = data.alerts.filter(({ state }) => state === 'firing');
      return [...new Set(firing.map(({ labels }) => labels.alertname))].sort();
    },
    async untilValue(query, accepts) {
      let last: number | null = null;
      const holds = async () => {
        last = await value(query);
        return last !== null && accepts(last);
      };
      if (!(await until(holds, SCRAPE_MS_MAX, 250))) throw new Error(`${query} is ${last}`);
      return last ?? Number.NaN;
    },
    stop,
  };
}

function configurationOf(hosts: readonly string[], token: string, hasRules: boolean): string {
  return `${hasRules ? 'rule_files: [rules.yaml]\n' : ''}global: { evaluation_interval: 1s }
scrape_configs:
  - job_name: relay
    scrape_interval: 1s
    scrape_timeout: 1s
    authorization:
      credentials: ${token}
    static_configs:
      - targets: [${hosts.map((host) => `'${host}'`).join(', ')}]
`;
}
