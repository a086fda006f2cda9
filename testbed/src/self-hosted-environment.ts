import { randomBytes } from 'node:crypto';

export interface SelfHostedEnvironment {
  readonly apiToken: string;
  readonly adminToken: string;
  /** What a self-hosted server needs to start, apart from its address. */
  readonly env: Readonly<Record<string, string>>;
}

/** Fresh secrets for one run, and access to providers on this machine. `stores` names PostgreSQL and Redis, if they are servers. */
export function selfHostedEnvironment(stores: Readonly<Record<string, string>>): SelfHostedEnvironment {
  const apiToken = randomBytes(24).toString('base64url');
  const adminToken = randomBytes(24).toString('base64url');
  return {
    apiToken,
    adminToken,
    env: {
      ...stores,
      RELAY_MODE: 'self_hosted',
      RELAY_API_TOKEN: apiToken,
      RELAY_ADMIN_TOKEN: adminToken,
      RELAY_MASTER_KEY: randomBytes(32).toString('base64'),
      RELAY_ALLOW_PRIVATE_NETWORKS: '127.0.0.1/32',
      // No load balancer has to notice that a process stops.
      RELAY_LAME_DUCK_MS: '0',
    },
  };
}
