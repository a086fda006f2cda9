import { randomBytes } from 'node:crypto';
import type { HostedDeployment } from '../harness/hosted-deployment.ts';
import { BODY, bodyHash, type Claims, goodToken, PATH } from './forge-context.ts';

/** One request as bytes: a start line, header lines and a body. */
export interface RawRequest {
  readonly start?: string;
  readonly lines: readonly string[];
  readonly body?: string;
}

/** A request that differs from the one its context was signed for, or that can be parsed in two ways. */
export interface RequestAttack {
  readonly name: string;
  readonly request: (hosted: HostedDeployment) => RawRequest;
}

const good = ({ platformKey, victim }: HostedDeployment, over: Claims = {}) =>
  goodToken(platformKey, victim, over);
const forList = { htm: 'GET', htu: '/v1/models', bh: bodyHash('') };

const otherRequests: readonly RequestAttack[] = [
  {
    name: 'another body',
    request: (hosted) => ({
      lines: [`x-relay-context: ${good(hosted)}`],
      body: BODY.replace('hello', 'howdy'),
    }),
  },
  {
    name: 'one byte more',
    request: (hosted) => ({ lines: [`x-relay-context: ${good(hosted)}`], body: `${BODY} ` }),
  },
  { name: 'no body', request: (hosted) => ({ lines: [`x-relay-context: ${good(hosted)}`], body: '' }) },
  {
    name: 'another path',
    request: (hosted) => ({
      start: 'POST /v1/responses HTTP/1.1',
      lines: [`x-relay-context: ${good(hosted)}`],
    }),
  },
  {
    name: 'a query that was not signed',
    request: (hosted) => ({
      start: `POST ${PATH}?x=1 HTTP/1.1`,
      lines: [`x-relay-context: ${good(hosted)}`],
    }),
  },
  {
    name: 'another query',
    request: (hosted) => ({
      start: 'GET /v1/models?after=x HTTP/1.1',
      lines: [`x-relay-context: ${good(hosted, forList)}`],
      body: '',
    }),
  },
  {
    name: 'one model where the list was signed',
    request: (hosted) => ({
      start: 'GET /v1/models/sim-multi HTTP/1.1',
      lines: [`x-relay-context: ${good(hosted, forList)}`],
      body: '',
    }),
  },
  {
    name: 'HEAD where GET was signed',
    request: (hosted) => ({
      start: 'HEAD /v1/models HTTP/1.1',
      lines: [`x-relay-context: ${good(hosted, forList)}`],
      body: '',
    }),
  },
  {
    name: 'a body on HEAD where none was signed',
    request: (hosted) => ({
      start: 'HEAD /v1/models HTTP/1.1',
      lines: [`x-relay-context: ${good(hosted, { ...forList, htm: 'HEAD' })}`],
      body: '{}',
    }),
  },
  {
    name: 'another method',
    request: (hosted) => ({
      start: 'GET /v1/models HTTP/1.1',
      lines: [`x-relay-context: ${good(hosted, { htu: '/v1/models', bh: bodyHash('') })}`],
      body: '',
    }),
  },
  {
    name: 'a body where none was signed',
    request: (hosted) => ({
      start: 'GET /v1/models HTTP/1.1',
      lines: [`x-relay-context: ${good(hosted, forList)}`],
      body: '{}',
    }),
  },
  {
    name: 'the path written in another way',
    request: (hosted) => ({
      start: 'POST /v1/chat/./completions HTTP/1.1',
      lines: [`x-relay-context: ${good(hosted)}`],
    }),
  },
];

const otherHeaders: readonly RequestAttack[] = [
  {
    name: 'the same context twice',
    request: (hosted) => {
      const token = good(hosted);
      return { lines: [`x-relay-context: ${token}`, `x-relay-context: ${token}`] };
    },
  },
  {
    name: 'two contexts under one name in two cases',
    request: (hosted) => ({
      lines: [`x-relay-context: ${good(hosted)}`, `X-RELAY-Context: ${good(hosted)}`],
    }),
  },
  {
    name: 'two contexts, one of which is wrong',
    request: (hosted) => ({ lines: ['X-Relay-Context: wrong', `x-relay-context: ${good(hosted)}`] }),
  },
  {
    name: 'two contexts in one header',
    request: (hosted) => ({ lines: [`x-relay-context: ${good(hosted)}, ${good(hosted)}`] }),
  },
  ...['x_relay_context', 'X_Relay_Context', 'x-relay_context', 'x_relay-context'].map((name) => ({
    name: `the context as ${name}`,
    request: (hosted: HostedDeployment) => ({ lines: [`${name}: ${good(hosted)}`] }),
  })),
  {
    name: 'a context with a look-alike beside it',
    request: (hosted) => ({
      lines: [`x-relay-context: ${good(hosted)}`, `x_relay_context: ${good(hosted)}`],
    }),
  },
  {
    name: 'a context with an identity beside it',
    request: (hosted) => ({
      lines: [`x-relay-context: ${good(hosted)}`, `X-Relay-User-Id: ${hosted.acme.userId}`],
    }),
  },
  {
    name: 'the context as Authorization',
    request: (hosted) => ({ lines: [`Authorization: Bearer ${good(hosted)}`] }),
  },
  {
    name: 'the context as a cookie',
    request: (hosted) => ({ lines: [`Cookie: x-relay-context=${good(hosted)}`] }),
  },
  {
    name: 'the context in the query',
    request: (hosted) => ({ start: `POST ${PATH}?x-relay-context=${good(hosted)} HTTP/1.1`, lines: [] }),
  },
  {
    name: 'the context after the body',
    request: (hosted) => ({
      lines: ['transfer-encoding: chunked', 'trailer: x-relay-context'],
      body: `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\nx-relay-context: ${good(hosted)}\r\n\r\n`,
    }),
  },
];

/** Credentials of other APIs are not valid here. */
const otherCredentials: readonly RequestAttack[] = [
  { name: 'nothing at all', request: () => ({ lines: [] }) },
  { name: 'a User API key', request: ({ victim }) => ({ lines: [`Authorization: Bearer ${victim.key}`] }) },
  {
    name: 'a browser session',
    request: () => ({ lines: [`Cookie: relay_session=${randomBytes(32).toString('base64url')}`] }),
  },
  {
    name: 'a deployment token',
    request: () => ({ lines: [`Authorization: Bearer ${randomBytes(32).toString('base64url')}`] }),
  },
  {
    name: 'an identity in plain headers',
    request: ({ victim }) => ({
      lines: [`X-Relay-Organization-Id: ${victim.organizationId}`, `X-Relay-User-Id: ${victim.userId}`],
    }),
  },
  {
    name: 'a key for the list of models',
    request: ({ victim }) => ({
      start: 'GET /v1/models HTTP/1.1',
      lines: [`Authorization: Bearer ${victim.key}`],
      body: '',
    }),
  },
  { name: 'a path that is not served', request: () => ({ start: 'POST /v1/else HTTP/1.1', lines: [] }) },
];

export const requestAttacks: readonly RequestAttack[] = [
  ...otherRequests,
  ...otherHeaders,
  ...otherCredentials,
];

/** Headers with which a client may try to impersonate or to steer, in spellings that servers confuse. */
export function spoofedLines({ platformKey, victim }: HostedDeployment): string[] {
  const context = () => goodToken(platformKey, victim);
  return [
    ...['x-relay-context', 'X-Relay-Context', 'X-RELAY-CONTEXT', 'x_relay_context', 'X_Relay-Context'].map(
      (name) => `${name}: ${context()}`,
    ),
    `x-relay_context: ${context()}`,
    ...['X-Relay-Organization-Id', 'x-relay-organization-id', 'x_relay_organization_id'].map(
      (name) => `${name}: ${victim.organizationId}`,
    ),
    ...['X-Relay-User-Id', 'x-RELAY-user-id', 'X_RELAY_USER_ID', 'x-relay-user_id'].map(
      (name) => `${name}: ${victim.userId}`,
    ),
    `X-Relay-Key-Id: ${victim.keyId}`,
    'X-Relay-Scopes: relay:request',
    'x-relay-selected-endpoint: mine',
    'x_relay_wait-ms: 0',
    'x-relay-internal-request-id: mine',
  ];
}
