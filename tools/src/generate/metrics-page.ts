import { metricTable } from '@relay/server';
import { type GeneratedFile, generatedPage, markdownTable } from './generated-file.ts';

interface Listed {
  readonly kind: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

/** Every metric of the server, from the table that gives them their names. */
export function metricsPage(): GeneratedFile[] {
  const rows = Object.entries<Listed>(metricTable).map(([name, { kind, labels = [], help }]) => [
    `\`${name}\``,
    kind,
    labels.map((label) => `\`${label}\``).join(', '),
    help,
  ]);
  const body = `# Metrics

\`GET /metrics\` returns metrics in Prometheus’s text format. With \`RELAY_METRICS_TOKEN\` it requires \`Authorization: Bearer <token>\`. Without
the token, it is available only to requests from the same machine that did not come through a proxy. Each process reports its own metrics.

No label contains an organization, a key, a user or a model. A process omits metrics that it does not have; workers report those of
the ledger.

${markdownTable(['Metric', 'Kind', 'Labels', 'Meaning'], rows)}

Relay also reports \`nodejs_…\` and \`process_…\` metrics: event loop delay (\`nodejs_eventloop_lag_p99_seconds\`), memory, garbage collection and CPU time.`;
  return [generatedPage('docs/reference/metrics.md', body)];
}
