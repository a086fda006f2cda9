import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alerts } from './alerts.ts';
import { treeOf } from './tree.ts';

const RULES = `groups:
  - name: relay-ledger
    rules:
      - alert: RelayLedgerLag
        expr: max(relay_ledger_lag_seconds) > 120
        labels: { severity: ticket }
        annotations:
          runbook_url: docs/runbooks/ledger-lag.md
`;
const SILENT = '      - { alertname: RelayLedgerLag, eval_time: 15m, exp_alerts: [] }\n';
const FIRES = `  - name: RelayLedgerLag
    alert_rule_test:
      - alertname: RelayLedgerLag
        eval_time: 15m
        exp_alerts:
          - exp_labels: { severity: ticket }
`;
const files = {
  'deploy/prometheus/rules.yaml': RULES,
  'deploy/prometheus/rules.test.yaml': `  - name: healthy\n    alert_rule_test:\n${SILENT}${FIRES}`,
  'deploy/grafana/relay.json': '{"expr": "rate(relay_wait_seconds_bucket[5m])"}',
  'docs/runbooks/ledger-lag.md': '# RelayLedgerLag\n',
  'docs/operate/alerts.md': '| [RelayLedgerLag](../runbooks/ledger-lag.md) | ticket | late |\n',
  'docs/reference/metrics.md':
    '| `relay_ledger_lag_seconds` | gauge | | |\n| `relay_wait_seconds` | histogram | | |\n',
};
type Path = keyof typeof files;

/** What is found when one file is another. */
function messagesWith(path: Path, text: string): string[] {
  return alerts(treeOf({ ...files, [path]: text })).map(({ message }) => message);
}

test('an alert with tests, page and row is accepted', () => {
  assert.deepEqual(alerts(treeOf(files)), []);
});

test('an alert that fires in no test, or is not silent in the healthy one, is refused', () => {
  const path = 'deploy/prometheus/rules.test.yaml';
  assert.deepEqual(messagesWith(path, `  - name: healthy\n${SILENT}`), [
    'has no test in which RelayLedgerLag fires',
  ]);
  // Silent elsewhere does not count.
  assert.deepEqual(messagesWith(path, `  - name: healthy\n${FIRES}${SILENT}`), [
    'does not expect RelayLedgerLag to be silent on a healthy deployment',
  ]);
});

test('an alert without its page, its title, its address or its row is refused', () => {
  assert.match(messagesWith('docs/runbooks/ledger-lag.md', '# Lag\n').join(), /title/);
  assert.match(messagesWith('docs/operate/alerts.md', '').join(), /no row for RelayLedgerLag/);
  const { 'docs/runbooks/ledger-lag.md': _gone, ...without } = files;
  assert.match(alerts(treeOf(without))[0]?.message ?? '', /is missing/);
  const elsewhere = RULES.replace('runbooks/ledger-lag', 'runbooks/lag');
  assert.match(messagesWith('deploy/prometheus/rules.yaml', elsewhere).join(), /needs runbook_url/);
});

test('a page without an alert is refused, and so are rules without alerts', () => {
  const found = alerts(treeOf({ ...files, 'docs/runbooks/drift.md': '# RelayDrift\n' }));
  assert.deepEqual(
    found.map(({ path }) => path),
    ['docs/runbooks/drift.md'],
  );
  assert.equal(messagesWith('deploy/prometheus/rules.yaml', 'groups: []').length, 1);
});

test('a metric that does not exist is refused, and a histogram without its suffix', () => {
  assert.match(
    messagesWith('deploy/grafana/relay.json', '{"expr": "relay_gone_total"}').join(),
    /relay_gone_total/,
  );
  assert.match(
    messagesWith('deploy/grafana/relay.json', '{"expr": "relay_wait_seconds"}').join(),
    /relay_wait_seconds/,
  );
});
