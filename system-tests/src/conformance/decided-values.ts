import { expectStatus } from './expectation.ts';
import { everywhere, type Mode, selfHosted, withMembers } from './mode.ts';
import { keyToLookAt } from './section-2.ts';
import type { Site } from './site.ts';
import { decided, type Statement } from './statement.ts';

// What the specification leaves open and Relay has decided: the values that fields take.

/** A value that a field takes, and a route that takes it. */
interface Taken {
  readonly path: string;
  readonly field: string;
  readonly values: readonly string[];
  readonly body: (site: Site, value: string) => Promise<object>;
  readonly appliesIn: (mode: Mode) => boolean;
  readonly status: number;
}

const LARGE = 1_000_000_000;
const targetIn = ({ lanes }: Site, type: string): string | null =>
  ({ provider: lanes.plain.providerIds[0], lane: lanes.plain.laneId })[type] ??
  (type === 'global' ? null : (lanes.plain.endpointIds[0] ?? null));
const byHeader = (mode: string) => (mode === 'header_static' ? 'x-key' : null);

const taken: readonly Taken[] = [
  {
    path: '/api/relay/providers',
    field: 'auth_mode',
    values: [
      'bearer_static',
      'header_static',
      'aws_sigv4',
      'google_service_account',
      'client_certificate',
      'none',
    ],
    body: async (_, auth_mode) => ({
      name: `Provider ${auth_mode}`,
      base_url: 'https://upstream.example.com/v1',
      auth_mode,
      auth_header_name: byHeader(auth_mode),
      aws_region: auth_mode === 'aws_sigv4' ? 'us-east-1' : null,
      enabled: false,
    }),
    appliesIn: everywhere,
    status: 201,
  },
  {
    path: '/api/relay/guardrails',
    field: 'auth_mode',
    values: ['none', 'bearer_static', 'header_static'],
    body: async (_, auth_mode) => ({
      name: `Guardrail ${auth_mode}`,
      base_url: 'https://guardrail.example.com/check',
      auth_mode,
      secret_header_name: byHeader(auth_mode),
      ...(auth_mode === 'none' ? {} : { secret: 'guardrail-credential' }),
    }),
    appliesIn: everywhere,
    status: 201,
  },
  ...['second', 'hour', 'week', 'month'].map((period) => ({
    path: '/api/relay/limit-policies',
    field: 'period',
    values: [period],
    body: async ({ lanes }: Site) => ({
      scope_type: 'lane',
      scope_id: lanes['switched off'].laneId,
      metric: 'requests',
      period,
      limit_value: LARGE,
      enabled: true,
    }),
    appliesIn: selfHosted,
    status: 201,
  })),
  {
    path: '/api/relay/limit-policies',
    field: 'scope_type',
    values: ['provider', 'endpoint', 'lane'],
    body: async (site, scope_type) => ({
      scope_type,
      scope_id: targetIn(site, scope_type),
      metric: 'tokens',
      period: 'month',
      limit_value: LARGE,
      enabled: true,
    }),
    appliesIn: selfHosted,
    status: 201,
  },
  {
    path: '/api/relay/api-key-limit-policies',
    field: 'target_type',
    values: ['global', 'provider', 'model', 'lane'],
    body: async (site, target_type) => ({
      api_key_uuid: (await keyToLookAt(site)).id,
      target_type,
      target_id: targetIn(site, target_type),
      metric: 'tokens',
      period: 'month',
      limit_value: LARGE,
      enabled: true,
    }),
    appliesIn: everywhere,
    status: 200,
  },
  {
    path: '/api/org/invitations',
    field: 'role',
    values: ['owner', 'admin', 'developer', 'viewer', 'billing'],
    body: async (_, role) => ({ email: `${role}@example.com`, role }),
    appliesIn: withMembers,
    status: 201,
  },
];

export const decidedValues: readonly Statement[] = taken.flatMap(
  ({ path, field, values: known, body, appliesIn, status }) =>
    known.map((value) =>
      decided(
        'd3',
        `values of ${field}`,
        `POST ${path} takes ${field} ${value}`,
        async (site) => {
          expectStatus(await site.call('POST', path, { body: await body(site, value) }), status);
        },
        appliesIn,
      ),
    ),
);
