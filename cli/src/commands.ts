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

const RUN = 'Run the gateway:';
const SIGN_IN = 'Sign in:';
const SET_UP = 'Set up:';
const LOOK = 'Look and try:';

/** One row for each command of `relay`, in the order of the help. */
export const commands: readonly CommandEntry[] = [
  {
    name: 'start',
    summary: 'run everything in one process: no database, no Redis, data in one directory',
    group: RUN,
    load: async () => (await import('./run/start.ts')).startCommand,
  },
  {
    name: 'serve',
    summary: 'run the server on PostgreSQL and Redis; settings come from the environment',
    group: RUN,
    load: async () => (await import('./run/serve.ts')).serveCommand,
  },
  {
    name: 'migrate',
    summary: 'look at or bring up the database schema',
    group: RUN,
    load: async () => (await import('./run/migrate.ts')).migrateCommand,
  },
  {
    name: 'users',
    summary: 'help users who cannot sign in',
    group: RUN,
    load: async () => (await import('./users/users.ts')).usersCommand,
  },
  {
    name: 'context-key',
    summary: 'print a new pair of keys for the context between the platform and inference roles',
    group: RUN,
    load: async () => (await import('./run/context-key.ts')).contextKeyCommand,
  },
  {
    name: 'demo',
    summary: 'send requests to a gateway that runs with `relay start --demo`',
    group: RUN,
    load: async () => (await import('./demo/demo-command.ts')).demoCommand,
  },
  {
    name: 'login',
    summary: 'keep a server and its tokens for the other commands',
    group: SIGN_IN,
    load: async () => (await import('./account/login.ts')).loginCommand,
  },
  {
    name: 'whoami',
    summary: 'say which server the commands speak to, and as whom',
    group: SIGN_IN,
    load: async () => (await import('./account/whoami.ts')).whoamiCommand,
  },
  {
    name: 'logout',
    summary: 'forget a login context',
    group: SIGN_IN,
    load: async () => (await import('./account/logout.ts')).logoutCommand,
  },
  ...resourceCommands(),
  {
    name: 'keys',
    summary: 'User API keys: create, rotate, revoke',
    group: SET_UP,
    load: async () => (await import('./keys/keys.ts')).keysCommand,
  },
  {
    name: 'chat',
    summary: 'talk to a lane',
    group: LOOK,
    load: async () => (await import('./chat/chat.ts')).chatCommand,
  },
  {
    name: 'explain',
    summary: 'say what would happen to a request now',
    group: LOOK,
    load: async () => (await import('./explain/explain.ts')).explainCommand,
  },
  {
    name: 'requests',
    summary: 'what was asked, how it was routed, what it cost',
    group: LOOK,
    load: async () => (await import('./requests/requests.ts')).requestsCommand,
  },
  {
    name: 'usage',
    summary: 'requests, tokens and spend, summed up',
    group: LOOK,
    load: async () => (await import('./usage/usage.ts')).usageCommand,
  },
  {
    name: 'config',
    summary: 'keep the configuration in a file: validate, diff, apply, export',
    group: SET_UP,
    load: async () => (await import('./config/config-command.ts')).configCommand,
  },
  {
    name: 'bench',
    summary: 'send a small load through a lane',
    group: LOOK,
    load: async () => (await import('./bench/bench.ts')).benchCommand,
  },
  {
    name: 'doctor',
    summary: 'look for what does not work, each with a fix',
    group: LOOK,
    load: async () => (await import('./doctor/doctor.ts')).doctorCommand,
  },
  {
    name: 'setup',
    summary: 'point a coding agent or an SDK at this gateway',
    group: LOOK,
    load: async () => (await import('./setup/setup.ts')).setupCommand,
  },
  {
    name: 'completion',
    summary: 'print the completion of a shell',
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
