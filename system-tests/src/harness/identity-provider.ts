import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
// @ts-expect-error The package comes without types; what is used of it is described below.
import untyped from 'oidc-provider';

interface OidcProvider {
  readonly Grant: new (of: {
    clientId: string;
    accountId: string;
  }) => {
    addOIDCScope(scope: string): void;
    save(): Promise<string>;
  };
  callback(): (request: IncomingMessage, response: ServerResponse) => void;
  interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
}
const Provider = untyped as new (issuer: string, configuration: object) => OidcProvider;

export interface Person {
  readonly id: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string;
}

/** A real OpenID Connect provider on the loopback address. It signs every visitor in as `person`. */
export interface IdentityProvider {
  person: Person;
  close(): Promise<void>;
}

export const CLIENT = { id: 'relay', secret: randomBytes(24).toString('base64url') };

interface OidcContext {
  readonly oidc: {
    readonly client: { readonly clientId: string };
    readonly session: { readonly accountId: string };
    readonly provider: OidcProvider;
  };
}

export async function startIdentityProvider(port: number, relayUrl: string): Promise<IdentityProvider> {
  const idp: { person: Person } = { person: { id: '', email: '', emailVerified: false, name: '' } };
  const provider = new Provider(`http://127.0.0.1:${port}`, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [`${relayUrl}/api/sso/callback`],
      },
    ],
    cookies: { keys: [randomBytes(24).toString('base64url')] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: () => '/sign-in' },
    findAccount: (_context: unknown, accountId: string) => ({
      accountId,
      claims: () => ({
        sub: accountId,
        email: idp.person.email,
        email_verified: idp.person.emailVerified,
        name: idp.person.name,
      }),
    }),
    async loadExistingGrant({ oidc }: OidcContext) {
      const grant = new oidc.provider.Grant({
        clientId: oidc.client.clientId,
        accountId: oidc.session.accountId,
      });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  });
  const handle = provider.callback();
  const server = createServer((request, response) => {
    if (request.url !== '/sign-in') return handle(request, response);
    return void provider.interactionFinished(request, response, { login: { accountId: idp.person.id } });
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return Object.assign(idp, {
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  });
}
