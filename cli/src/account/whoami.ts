import { Command } from 'commander';
import { type Api, connect, dataOf } from '../api/client.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import type { Cell } from '../output/cells.ts';
import { type OutputOptions, withOutput } from '../output/options.ts';
import { printObject } from '../output/print.ts';
import { type ConnectionOptions, withConnection } from '../session/connection.ts';

export function whoamiCommand(surroundings: Surroundings): Command {
  const command = new Command('whoami').description('Show the current server, user, role and scopes');
  return withOutput(withConnection(command)).action((options: ConnectionOptions & OutputOptions) =>
    whoami(surroundings, options),
  );
}

async function whoami(surroundings: Surroundings, options: ConnectionOptions & OutputOptions): Promise<void> {
  const api = await connect(surroundings, options);
  const { server, contextName, tokens } = api.connection;
  const found = {
    context: contextName,
    server,
    ...(tokens.management === null ? await asInference(api) : await asManagement(api)),
    management: tokens.management !== null,
    inference: tokens.inference !== null,
  };
  await printObject(surroundings, options, found, fieldsOf);
}

async function asManagement(api: Api) {
  const capabilities = await dataOf(api.management.GET('/api/relay/capabilities'));
  const account = await dataOf(api.management.GET('/api/account'));
  return {
    version: capabilities.version,
    mode: capabilities.mode,
    accounts: capabilities.accounts,
    user: account.user.name,
    email: account.user.email,
    organization: account.org.name,
    role: account.role,
    scopes: capabilities.scopes,
  };
}

/** The API token allows inference only, and the inference API has no route for the caller's identity. */
async function asInference(api: Api) {
  const { data } = await dataOf(api.inference.GET('/models'));
  return { models: data.length, scopes: ['relay:request'] };
}

function fieldsOf(found: Readonly<Record<string, Cell | readonly string[]>>): [string, Cell][] {
  return Object.entries(found).map(([name, value]) => {
    if (name === 'management' || name === 'inference') return [name, value ? 'token saved' : 'no token'];
    return [name, typeof value === 'object' && value !== null ? value.join(', ') : value];
  });
}
