import type { Fault } from '@relay/provider-sim';
import { FAILING, type Incident } from './incident.ts';
import { FREE, LIMITED, type Site } from './site.ts';

const MAY = [
  ...FAILING,
  'RelayEndpointDown',
  'RelayEndpointRateLimited',
  'RelayEndpointSilent',
  'RelayCredentialRejected',
] as const;

const common = { may: MAY, never: [/The ledger is (?:late|behind)/] } as const;

/** Every request to the provider meets this fault. */
function faulty(fault: Fault) {
  return async ({ provider }: Site) => {
    await provider.script([{ fault, persistent: true }]);
    return { heals: () => reset(provider.process.baseUrl) };
  };
}

/** Rules go, the log stays. */
async function reset(baseUrl: string): Promise<void> {
  const response = await fetch(`${baseUrl.replace(/\/v1$/, '')}/_sim/script`, { method: 'DELETE' });
  if (!response.ok) throw new Error(`the provider keeps its script: ${response.status}`);
}

const FAILED = ['RelayLaneFailing', 'RelayGatewayFailing'] as const;

export const providerIncidents: readonly Incident[] = [
  {
    ...common,
    name: 'the provider refuses connections',
    async breaks({ links }) {
      await links.provider.refuse();
      return { heals: () => links.provider.heal() };
    },
    clients: /^502 upstream_unreachable$/,
    tells: {
      alerts: [...FAILED, 'RelayEndpointDown', 'RelayAvailabilityFastBurn'],
      doctor: /[Ll]imited 1|[Ff]ree 1/,
    },
  },
  {
    ...common,
    name: 'the provider answers 429',
    breaks: faulty({ status: 429, retryAfter: '5' }),
    clients: /^429 /,
    tells: { alerts: [...FAILED, 'RelayEndpointRateLimited'] },
  },
  {
    ...common,
    name: 'the provider accepts and never answers',
    async breaks(site) {
      const { heals } = await faulty({ stallBeforeHeaders: true })(site);
      return {
        async heals() {
          await heals();
          // What hangs would hang until its timeout.
          site.links.provider.cut();
        },
      };
    },
    clients: /^(0 cut|429 rate_limit_wait_budget_exceeded|502 upstream_\w+)$/,
    tells: { alerts: ['RelayEndpointSilent'] },
  },
  {
    ...common,
    name: 'the provider answers 500',
    breaks: faulty({ status: 500 }),
    clients: /^50\d /,
    tells: { alerts: [...FAILED, 'RelayEndpointDown', 'RelayAvailabilityFastBurn'] },
  },
  {
    ...common,
    name: 'the provider rejects the credential',
    breaks: faulty({ status: 401 }),
    clients: /^502 upstream_credential_refused$/,
    tells: { alerts: [...FAILED, 'RelayCredentialRejected'], doctor: /credential/i },
  },
  {
    ...common,
    name: 'the provider’s account has no credit',
    breaks: faulty({ status: 402 }),
    clients: /^502 upstream_credential_refused$/,
    tells: { alerts: [...FAILED, 'RelayCredentialRejected'] },
  },
  {
    ...common,
    name: 'the provider has retired the model',
    breaks: faulty({ status: 404 }),
    clients: /^404 /,
    tells: { alerts: [...FAILED] },
  },
  {
    ...common,
    name: 'the provider redirects',
    breaks: faulty({ redirectTo: 'http://127.0.0.1:1/v1' }),
    clients: /^502 upstream_redirected$/,
    tells: { alerts: [...FAILED] },
  },
  {
    ...common,
    name: 'the provider sends a page instead of an answer',
    breaks: faulty({ html200: true }),
    clients: /^502 upstream_invalid_response$/,
    tells: { alerts: [...FAILED] },
  },
  {
    ...common,
    name: 'the provider cuts answers off',
    breaks: faulty({ cutAfterBytes: 60 }),
    clients: /^(?:502 \w+|200 \w+)$/,
    tells: { alerts: [...FAILED] },
  },
  {
    ...common,
    name: 'the provider is overloaded for some requests',
    breaks: async ({ provider }) => {
      await provider.script([{ match: { every: 4 }, fault: { status: 503 }, persistent: true }]);
      return { heals: () => reset(provider.process.baseUrl) };
    },
    clients: /^50\d /,
    tells: { alerts: ['RelayAvailabilityFastBurn'] },
  },
  {
    ...common,
    name: 'the provider takes a second for its first byte',
    breaks: faulty({ delayMs: 1_000 }),
    tells: {},
    may: [],
    lastsMs: 8_000,
  },
  {
    ...common,
    name: 'the provider reports impossible usage',
    breaks: faulty({ claimedOutput: 2_000_000_000 }),
    tells: { alerts: ['RelayUsageImplausible'] },
    may: ['RelayUsageImplausible', 'RelayLimitNearlyReached', 'RelayLaneUnserved'],
    lanes: [FREE],
  },
  {
    ...common,
    name: 'an endpoint is disabled by mistake',
    async breaks(site) {
      await enable(site, FREE, false);
      return { heals: () => enable(site, FREE, true) };
    },
    clients: /^400 no_route$/,
    tells: { alerts: ['RelayLaneFailing'], doctor: /free/i },
    lanes: [FREE],
  },
  {
    ...common,
    name: 'a shared limit is far too low',
    async breaks({ admin, ids }) {
      const limit = { scope_type: 'lane', scope_id: ids.laneIds[FREE], metric: 'requests', period: 'minute' };
      const { id } = await admin.create('/api/relay/limit-policies', {
        ...limit,
        limit_value: 3,
        enabled: true,
      });
      return { heals: () => admin.call('DELETE', `/api/relay/limit-policies/${id}`) };
    },
    clients: /^429 rate_limit_wait_budget_exceeded$/,
    tells: { alerts: ['RelayLaneUnserved'] },
    may: ['RelayWaitsLong'],
    lanes: [FREE],
  },
  {
    ...common,
    name: 'the day’s budget of a lane is used up',
    async breaks({ admin, ids }) {
      const limit = { scope_type: 'lane', scope_id: ids.laneIds[FREE], metric: 'requests', period: 'day' };
      const { id } = await admin.create('/api/relay/limit-policies', {
        ...limit,
        limit_value: 1,
        enabled: true,
      });
      return { heals: () => admin.call('DELETE', `/api/relay/limit-policies/${id}`) };
    },
    clients: /^429 budget_exhausted$/,
    tells: { alerts: ['RelayLaneUnserved', 'RelayLimitNearlyReached'] },
    lanes: [FREE],
  },
  {
    ...common,
    name: 'the wrong credential is stored',
    breaks: faulty({ status: 403 }),
    clients: /^502 upstream_credential_refused$/,
    tells: { alerts: [...FAILED] },
    lanes: [LIMITED],
  },
];

async function enable({ admin, ids }: Site, lane: string, enabled: boolean): Promise<void> {
  const path = `/api/relay/endpoints/${ids.endpointIds[lane]}`;
  const { status, body } = await admin.call('PUT', path, { enabled });
  if (status !== 200) throw new Error(`PUT ${path} answered ${status}: ${JSON.stringify(body)}`);
}
