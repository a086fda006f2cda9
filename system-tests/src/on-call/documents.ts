import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const DOCS = join(import.meta.dirname, '../../../docs');

/** The incidents in which a page is followed, or why none does. */
type Followed = readonly [string, ...string[]] | { readonly reason: string };

const RULES_ONLY = 'its condition takes hours or more data than a suite has; promtool tests the rule';

/** Every page for operators. A page that is missing here fails the suite. */
export const pages: Readonly<Record<string, Followed>> = {
  'runbooks/absent.md': ['every process is killed'],
  'runbooks/admission-failing.md': ['Redis is read-only', 'Redis is full'],
  'runbooks/availability-fast-burn.md': ['the provider answers 500'],
  'runbooks/availability-slow-burn.md': ['the provider is overloaded for some requests'],
  'runbooks/budget-pace.md': { reason: RULES_ONLY },
  'runbooks/clock-skew.md': [
    'the clock of gateway2 jumps an hour ahead',
    'the clock of worker jumps an hour ahead',
  ],
  'runbooks/configuration-stale.md': ['PostgreSQL hangs'],
  'runbooks/credential-rejected.md': ['the provider rejects the credential'],
  'runbooks/drift.md': { reason: 'limits are compared every 5 minutes; the suite `reconcile` plants drift' },
  'runbooks/endpoint-down.md': ['the provider refuses connections'],
  'runbooks/endpoint-rate-limited.md': ['the provider answers 429'],
  'runbooks/endpoint-silent.md': ['the provider accepts and never answers'],
  'runbooks/event-loop-delay.md': ['the event loop of a gateway is blocked again and again'],
  'runbooks/file-descriptors.md': ['a gateway runs out of file descriptors'],
  'runbooks/gateway-failing.md': ['the provider cuts answers off'],
  'runbooks/gateway-refusing.md': {
    reason: 'a gateway with other secrets refuses to start; promtool tests the rule',
  },
  'runbooks/guardrail-blocking.md': { reason: 'the suite has no guardrail service; promtool tests the rule' },
  'runbooks/guardrail-unavailable.md': {
    reason: 'the suite `guardrails` has the service; promtool tests the rule',
  },
  'runbooks/keys-rejected.md': {
    reason: 'gateways with other secrets refuse to start; promtool tests the rule',
  },
  'runbooks/lane-failing.md': ['the provider answers 429', 'an endpoint is disabled by mistake'],
  'runbooks/lane-unserved.md': ['a shared limit is far too low'],
  'runbooks/ledger-backlog-growing.md': { reason: RULES_ONLY },
  'runbooks/ledger-lag.md': ['the ledger’s table is locked'],
  'runbooks/ledger-worker-missing.md': ['the worker is killed'],
  'runbooks/limit-nearly-reached.md': ['the day’s budget of a lane is used up'],
  'runbooks/overhead-fast-burn.md': { reason: 'a busy machine adds time by itself; promtool tests the rule' },
  'runbooks/overhead-slow-burn.md': { reason: 'a busy machine adds time by itself; promtool tests the rule' },
  'runbooks/process-down.md': ['a gateway is killed', 'the platform is killed'],
  'runbooks/reconciliation-stalled.md': { reason: RULES_ONLY },
  'runbooks/records-poisoned.md': { reason: 'the suite `clocks` refuses a record and replays it' },
  'runbooks/redis-breaker-open.md': ['Redis stops', 'Redis hangs'],
  'runbooks/redis-script-slow.md': ['Redis is slow'],
  'runbooks/sink-lag.md': { reason: 'the deployment has no sink; `chaos sinks` takes them away' },
  'runbooks/spool-filling.md': { reason: 'it needs 128 MiB of usage; the suite `outage` fills a spool' },
  'runbooks/spool-not-empty.md': ['Redis stops'],
  'runbooks/state-unreadable.md': { reason: 'unit tests of admission plant entries that it cannot read' },
  'runbooks/store-down.md': [
    'PostgreSQL stops',
    'Redis stops',
    'PostgreSQL’s disk is full',
    'Redis gets another password',
  ],
  'runbooks/traces-dropped.md': { reason: 'tracing is off here; the suite `telemetry` has a receiver' },
  'runbooks/usage-implausible.md': ['the provider reports impossible usage'],
  'runbooks/usage-lost.md': { reason: 'it needs 128 MiB of usage; the suite `outage` fills a spool' },
  'runbooks/versions-mixed.md': { reason: RULES_ONLY },
  'runbooks/waits-long.md': { reason: 'waits over 10 s outlast an incident; promtool tests the rule' },
  'operate/alerts.md': ['the provider answers 500'],
  'operate/backup.md': {
    reason: 'the suite `books` and `backup.test` restore; the commands need servers of their own',
  },
  'operate/compose.md': { reason: 'it needs a container engine; tests in tools/src/deploy check the file' },
  'operate/image.md': { reason: 'it needs a container engine; `faults image` checks the image' },
  'operate/kubernetes.md': { reason: 'it needs a cluster; tests in tools/src/deploy render it' },
  'operate/postgresql.md': ['PostgreSQL is read-only', 'PostgreSQL accepts no connections'],
  'operate/proxies.md': ['the gateways restart one after the other'],
  'operate/redis.md': ['Redis may evict keys', 'Redis restarts empty'],
  'operate/systemd.md': { reason: 'it needs systemd; the suite `operate` verifies the unit' },
};

/** Paths below `docs`. */
export function pagesThatExist(): string[] {
  return ['runbooks', 'operate'].flatMap((folder) =>
    readdirSync(join(DOCS, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${basename(name)}`),
  );
}

/** Objects that stand for the placeholders of a page. */
export type Placeholders = Readonly<Record<string, string>>;

const COMMAND = /`(relay [^`]+)`/g;
const PLACEHOLDER = /\b[A-Z][A-Z_]+\b/g;
/** These start a server, change data, or need a file; other suites run them. */
const NOT_HERE =
  /^relay (?:\w+$|requests get$|keys revoke|serve|start|migrate|apply|usage|login|users|lanes (?:update|endpoints)|limits create|doctor)\b/;

/** The commands of a page that look at a deployment, with their placeholders filled in. One with an unknown placeholder is left out. */
export function commandsOf(page: string, placeholders: Placeholders): string[][] {
  const text = readFileSync(join(DOCS, page), 'utf8');
  const commands = [...new Set([...text.matchAll(COMMAND)].map(([, command = '']) => command))];
  return commands
    .filter((command) => !NOT_HERE.test(command))
    .map((command) => command.replaceAll(PLACEHOLDER, (name) => placeholders[name] ?? name))
    .filter((command) => command.search(PLACEHOLDER) < 0)
    .map((command) => command.split(' ').slice(1));
}
