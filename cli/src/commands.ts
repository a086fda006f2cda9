import type { Command } from 'commander';
import type { Surroundings } from './kit/surroundings.ts';
import { announcedResources } from './resources/resource-list.ts';

/**
 * Creates a command. With `argv`, it needs to create only what these arguments use; `whole` creates the program with all
 * commands, for completion.
 */
type CommandFactory = (
  surroundings: Surroundings,
  argv: readonly string[] | undefined,
  whole: () => Promise<Command>,
) => Command | Promise<Command>;

/** A command is loaded when it is called, so that it does not load the imports of others. */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly group: string;
  readonly load: () => Promise<CommandFactory>;
}

const RUN = 'Run Relay:';
const LOG_IN = 'Log in:';
const SET_UP = 'Set up:';
const LOOK = 'Inspect and try:';

/** One row for each command of `relay`, in the order of the help. */
export const commands: readonly CommandEntry[] = [
  {
    name: 'start',
    summary: 'Run Relay in one process, data in one directory',
    group: RUN,
    load: async () => (await import('./run/start.ts')).startCommand,
  },
  {
    name: 'serve',
    summary: 'Run the server on PostgreSQL and Redis',
    group: RUN,
    load: async () => (await import('./run/serve.ts')).serveCommand,
  },
  {
    name: 'migrate',
    summary: 'Show or apply migrations',
    group: RUN,
    load: async () => (await import('./run/migrate.ts')).migrateCommand,
  },
  {
    name: 'users',
    summary: 'Help users who can’t sign in',
    group: RUN,
    load: async () => (await import('./users/users.ts')).usersCommand,
  },
  {
    name: 'rotate-key',
    summary: 'Replace the master key and other secrets',
    group: RUN,
    load: async () => (await import('./run/rotate-key.ts')).rotateKeyCommand,
  },
  {
    name: 'context-key',
    summary: 'Print a new key pair for signed contexts',
    group: RUN,
    load: async () => (await import('./run/context-key.ts')).contextKeyCommand,
  },
  {
    name: 'demo',
    summary: 'Send sample traffic to `relay start --demo`',
    group: RUN,
    load: async () => (await import('./demo/demo-command.ts')).demoCommand,
  },
  {
    name: 'login',
    summary: 'Save a server and its tokens',
    group: LOG_IN,
    load: async () => (await import('./account/login.ts')).loginCommand,
  },
  {
    name: 'whoami',
    summary: 'Show the current server and user',
    group: LOG_IN,
    load: async () => (await import('./account/whoami.ts')).whoamiCommand,
  },
  {
    name: 'logout',
    summary: 'Remove a login context',
    group: LOG_IN,
    load: async () => (await import('./account/logout.ts')).logoutCommand,
  },
  ...resourceCommands(),
  {
    name: 'keys',
    summary: 'Manage API keys',
    group: SET_UP,
    load: async () => (await import('./keys/keys.ts')).keysCommand,
  },
  {
    name: 'prices',
    summary: 'Manage prices',
    group: SET_UP,
    load: async () => (await import('./prices/prices-command.ts')).pricesCommand,
  },
  {
    name: 'chat',
    summary: 'Chat with a lane',
    group: LOOK,
    load: async () => (await import('./chat/chat.ts')).chatCommand,
  },
  {
    name: 'explain',
    summary: 'Explain how a request would be routed',
    group: LOOK,
    load: async () => (await import('./explain/explain.ts')).explainCommand,
  },
  {
    name: 'what-if',
    summary: 'Replay recent requests with an edited configuration',
    group: LOOK,
    load: async () => (await import('./config/what-if.ts')).whatIfCommand,
  },
  {
    name: 'requests',
    summary: 'Show the request log',
    group: LOOK,
    load: async () => (await import('./requests/requests.ts')).requestsCommand,
  },
  {
    name: 'alerts',
    summary: 'Show alerts on limits',
    group: LOOK,
    load: async () => (await import('./resources/alerts.ts')).alertsCommand,
  },
  {
    name: 'usage',
    summary: 'Show usage and spend',
    group: LOOK,
    load: async () => (await import('./usage/usage.ts')).usageCommand,
  },
  {
    name: 'showback',
    summary: 'Show spend by team, label, key, member or model',
    group: LOOK,
    load: async () => (await import('./usage/showback.ts')).showbackCommand,
  },
  {
    name: 'reconcile',
    summary: 'Compare the ledger with a provider’s export',
    group: LOOK,
    load: async () => (await import('./reconcile/reconcile.ts')).reconcileCommand,
  },
  {
    name: 'config',
    summary: 'Manage the configuration file',
    group: SET_UP,
    load: async () => (await import('./config/config-command.ts')).configCommand,
  },
  {
    name: 'bench',
    summary: 'Measure latency with a small load',
    group: LOOK,
    load: async () => (await import('./bench/bench.ts')).benchCommand,
  },
  {
    name: 'doctor',
    summary: 'Diagnose problems',
    group: LOOK,
    load: async () => (await import('./doctor/doctor.ts')).doctorCommand,
  },
  {
    name: 'setup',
    summary: 'Point a coding agent or an SDK at Relay',
    group: LOOK,
    load: async () => (await import('./setup/setup.ts')).setupCommand,
  },
  {
    name: 'completion',
    summary: 'Print shell completion',
    group: LOOK,
    load: async () => (await import('./completion/completion.ts')).completionCommand,
  },
];

/** The resources of the contract. Those with more than the common subcommands have a file of their own. */
function resourceCommands(): CommandEntry[] {
  const own: Readonly<Record<string, CommandEntry['load']>> = {
    providers: async () => (await import('./resources/providers.ts')).providersCommand,
    endpoints: async () => (await import('./resources/endpoints.ts')).endpointsCommand,
    lanes: async () => (await import('./resources/lanes.ts')).lanesCommand,
    guardrails: async () => (await import('./resources/guardrails.ts')).guardrailsCommand,
    limits: async () => (await import('./resources/limits.ts')).limitsCommand,
    teams: async () => (await import('./resources/teams.ts')).teamsCommand,
    'alert-destinations': async () => (await import('./resources/alerts.ts')).alertDestinationsCommand,
  };
  return Object.values(announcedResources).map((announced) => ({
    name: announced.plural,
    summary: announced.summary,
    group: SET_UP,
    load:
      own[announced.plural] ??
      (async () => (await import('./resources/announced-command.ts')).announcedCommand(announced)),
  }));
}
