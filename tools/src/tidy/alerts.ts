import type { Finding, Tree, TreeFile } from './tree.ts';

const RULES = 'deploy/prometheus/rules.yaml';
const TESTS = 'deploy/prometheus/rules.test.yaml';
const RUNBOOKS = 'docs/runbooks/';
const LIST = 'docs/operate/alerts.md';
const METRICS = 'docs/reference/metrics.md';
const DASHBOARDS = /^deploy\/grafana\/.*\.json$/;

interface Alert {
  readonly name: string;
  readonly severity: string;
  readonly runbook: string;
}

/**
 * Every alert fires in a test, is silent in the test of a healthy deployment, and has its page and its row in the list; and no page is left over.
 * Rules, their tests and dashboards name only metrics that exist. promtool runs the tests: `npm run system -- operate`.
 */
export function alerts(tree: Tree): Finding[] {
  const text = (path: string) => tree.files.find((file) => file.path === path)?.text ?? '';
  const found = alertsIn(text(RULES));
  if (found.length === 0) return [{ path: RULES, line: null, message: 'has no alert' }];
  const pages = new Map(tree.files.map((file) => [file.path, file.text]));
  return [
    ...found.flatMap((alert) => [...testsOf(alert, text(TESTS)), ...pageOf(alert, pages, text(LIST))]),
    ...leftOver(found, tree),
    ...unknownMetrics(tree, text(METRICS)),
  ];
}

function alertsIn(rules: string): Alert[] {
  const [, ...blocks] = rules.split(/^ +- alert: /m);
  return blocks.map((block) => ({
    name: /^\w+/.exec(block)?.[0] ?? '',
    severity: /severity: (\w+)/.exec(block)?.[1] ?? '',
    runbook: /runbook_url: (\S+)/.exec(block)?.[1] ?? '',
  }));
}

function testsOf({ name }: Alert, tests: string): Finding[] {
  const finding = (message: string): Finding => ({ path: TESTS, line: null, message });
  const [healthy = ''] = tests.split(/^ +- name: Relay/m);
  const fires = new RegExp(`alertname: ${name}\\n +eval_time: \\S+\\n +exp_alerts:\\n +- exp_labels:`).test(
    tests,
  );
  const isSilent = new RegExp(`alertname: ${name}, eval_time: \\w+, exp_alerts: \\[\\]`).test(healthy);
  return [
    ...(fires ? [] : [finding(`has no test in which ${name} fires`)]),
    ...(isSilent ? [] : [finding(`does not expect ${name} to be silent on a healthy deployment`)]),
  ];
}

function pageOf(
  { name, severity, runbook }: Alert,
  pages: ReadonlyMap<string, string>,
  list: string,
): Finding[] {
  const path = pagePath(name);
  const findings: Finding[] = [];
  if (runbook !== path)
    findings.push({ path: RULES, line: null, message: `${name} needs runbook_url: ${path}` });
  const page = pages.get(path);
  if (page === undefined)
    findings.push({ path, line: null, message: `is missing; say what to do about ${name}` });
  else if (!page.startsWith(`# ${name}\n`))
    findings.push({ path, line: 1, message: `must have the title ${name}` });
  if (!list.includes(`| [${name}](../runbooks/${path.slice(RUNBOOKS.length)}) | ${severity} |`))
    findings.push({
      path: LIST,
      line: null,
      message: `has no row for ${name} with its severity ${severity}`,
    });
  return findings;
}

/** RelayLedgerLag → docs/runbooks/ledger-lag.md */
function pagePath(name: string): string {
  const words = name.replace(/^Relay/, '').replace(/(?<!^)[A-Z]/g, (letter) => `-${letter}`);
  return `${RUNBOOKS}${words.toLowerCase()}.md`;
}

function leftOver(found: readonly Alert[], tree: Tree): Finding[] {
  const known = new Set(found.map(({ name }) => pagePath(name)));
  return tree.files
    .filter(({ path }) => path.startsWith(RUNBOOKS) && !path.endsWith('/README.md') && !known.has(path))
    .map(({ path }) => ({ path, line: null, message: 'belongs to no alert' }));
}

function unknownMetrics(tree: Tree, reference: string): Finding[] {
  const rows = [...reference.matchAll(/^\| `(\w+)` \| (\w+) \|/gm)];
  const known = new Set(
    rows.flatMap(([, name = '', kind]) =>
      kind === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
  return tree.files
    .filter(({ path }) => path === RULES || path === TESTS || DASHBOARDS.test(path))
    .flatMap((file) =>
      metricNamesIn(file)
        .filter((name) => !known.has(name))
        .map((name) => ({ path: file.path, line: null, message: `uses ${name}, which no process reports` })),
    );
}

/** Names as they stand in expressions; the labels of our metrics have no such prefix. */
function metricNamesIn({ text }: TreeFile): string[] {
  return [...new Set([...text.matchAll(/\brelay_\w+/g)].map(([name]) => name))];
}
