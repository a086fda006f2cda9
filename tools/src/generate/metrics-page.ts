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

\`GET /metrics\` answers in the text format of Prometheus. With \`RELAY_METRICS_TOKEN\` it wants \`Authorization: Bearer <token>\`; without it it
answers requests from the same machine that came through no proxy, and is not there for anybody else. Every process tells of itself.

No label holds an organization, a key, a user or a model. A metric without a sample is one that this process knows nothing of: those of
the ledger are told by workers.

${markdownTable(['Metric', 'Kind', 'Labels', 'Meaning'], rows)}

Besides these there are \`nodejs_…\` and \`process_…\`: event loop delay (\`nodejs_eventloop_lag_p99_seconds\`), memory, garbage collection, processor time.`;
  return [generatedPage('docs/reference/metrics.md', body)];
}
