import { useQuery } from '@tanstack/react-query';
import { limitPoliciesQuery } from '../../api/limit-queries.ts';
import { orgApiKeysQuery } from '../../api/people-queries.ts';
import { apiKeyBudgetsQuery, apiKeysQuery, credentialsQuery, providersQuery } from '../../api/queries.ts';
import { statsSummaryQuery } from '../../api/usage-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useAccess } from '../../session/use-access.ts';
import type { text } from '../../text/index.ts';

export type StepName = keyof typeof text.home.setup.steps;

export interface SetupStep {
  readonly name: StepName;
  readonly path: '/providers' | '/endpoints' | '/lanes' | '/playground' | '/keys' | '/limits';
  readonly done: boolean;
  /** Requests flow without it. */
  readonly optional: boolean;
}

export interface Setup {
  /** The steps that the caller can take, in order. */
  readonly steps: readonly SetupStep[];
  readonly requests: number;
}

/** The setup steps and their state, from existing resources; undefined while loading. */
export function useSetup(): { readonly setup: Setup | undefined; readonly error: Error | null } {
  const api = useApi();
  const { can } = useAccess();
  const asks = {
    provider: can('createProvider'),
    key: can('createApiKey'),
    limit: can('upsertApiKeyLimitPolicy'),
  };
  const seesAllKeys = can('listOrgApiKeys');
  const summary = useQuery({ ...statsSummaryQuery(api), staleTime: 0 });
  const providers = useQuery({ ...providersQuery(api), enabled: asks.provider });
  const credentials = useQuery({ ...credentialsQuery(api), enabled: asks.provider });
  // The keys of others serve the step, too.
  const allKeys = useQuery({ ...orgApiKeysQuery(api), enabled: asks.key && seesAllKeys });
  const ownKeys = useQuery({ ...apiKeysQuery(api), enabled: asks.key && !seesAllKeys });
  const limits = useQuery({ ...limitPoliciesQuery(api), enabled: asks.limit && can('listLimitPolicies') });
  const budgets = useQuery({ ...apiKeyBudgetsQuery(api), enabled: asks.limit });
  const all = [summary, providers, credentials, allKeys, ownKeys, limits, budgets];
  const error = all.find((each) => each.error !== null)?.error ?? null;
  if (summary.data === undefined || all.some(({ isLoading }) => isLoading))
    return { setup: undefined, error };
  const counts = summary.data;
  // A provider without authentication needs no credential.
  const needsNone = providers.data?.some((each) => each.auth_mode === 'none') === true;
  const steps: (Omit<SetupStep, 'optional'> | false)[] = [
    asks.provider && { name: 'provider', path: '/providers', done: counts.providers > 0 },
    asks.provider && {
      name: 'credential',
      path: '/providers',
      done: needsNone || (credentials.data?.length ?? 0) > 0,
    },
    can('createEndpoint') && { name: 'endpoint', path: '/endpoints', done: counts.endpoints > 0 },
    can('createLane') && { name: 'lane', path: '/lanes', done: counts.lanes > 0 },
    can('createChatCompletion') && { name: 'request', path: '/playground', done: counts.requests > 0 },
    asks.key && { name: 'key', path: '/keys', done: (allKeys.data ?? ownKeys.data ?? []).length > 0 },
    asks.limit && {
      name: 'limit',
      path: '/limits',
      done: (limits.data?.length ?? 0) + (budgets.data?.length ?? 0) > 0,
    },
  ];
  const taken = steps
    .filter((step) => step !== false)
    .map((step) => ({ ...step, optional: OPTIONAL.has(step.name) }));
  return { setup: { steps: taken, requests: counts.requests }, error };
}

const OPTIONAL: ReadonlySet<StepName> = new Set(['key', 'limit']);

/** Where Home shows the checklist: nowhere when all is done or it was dismissed, and last when only optional steps are left. */
export function placeOfChecklist({ steps, requests }: Setup, isDismissed: boolean): 'first' | 'last' | null {
  const open = steps.filter(({ done }) => !done);
  if (open.length === 0 || (isDismissed && requests > 0)) return null;
  return requests > 0 && open.every(({ optional }) => optional) ? 'last' : 'first';
}
