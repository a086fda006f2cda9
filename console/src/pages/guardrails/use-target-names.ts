import type { GuardrailBinding } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { endpointsQuery, lanesQuery, providersQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';

export type TargetType = GuardrailBinding['target_type'];

/** A possible target of a binding, with a unique key such as `lane:ID`. */
export interface Target {
  readonly key: string;
  readonly type: Exclude<TargetType, 'global'>;
  readonly id: string;
  readonly name: string;
  readonly note: string;
}

export const GLOBAL_KEY = 'global';

export function keyOf({
  target_type: type,
  target_id: id,
}: Pick<GuardrailBinding, 'target_type' | 'target_id'>) {
  return type === 'global' ? GLOBAL_KEY : `${type}:${id}`;
}

/** All targets that the caller can read; undefined while loading. */
export function useTargets(): readonly Target[] | undefined {
  const api = useApi();
  const { can } = useAccess();
  const lanes = useQuery({ ...lanesQuery(api), enabled: can('listLanes') });
  const providers = useQuery({ ...providersQuery(api), enabled: can('listProviders') });
  const endpoints = useQuery({ ...endpointsQuery(api), enabled: can('listEndpoints') });
  const isReady = [lanes, providers, endpoints].every(
    ({ fetchStatus, data }) => fetchStatus === 'idle' || data,
  );
  return useMemo(() => {
    if (!isReady) return undefined;
    const named = (type: Target['type'], id: string, name: string, note: string): Target => ({
      key: `${type}:${id}`,
      type,
      id,
      name,
      note,
    });
    return [
      ...(lanes.data ?? []).map(({ id, name, slug }) => named('lane', id, name, slug)),
      ...(providers.data ?? []).map(({ id, name, slug }) => named('provider', id, name, slug)),
      ...(endpoints.data ?? []).map(({ id, name, upstream_model: model }) =>
        named('endpoint', id, name, model),
      ),
    ];
  }, [isReady, lanes.data, providers.data, endpoints.data]);
}

/** The name of a target: undefined while loading, and the ID if the target is deleted or not readable. */
export function useTargetName(): (
  binding: Pick<GuardrailBinding, 'target_type' | 'target_id'>,
) => string | undefined {
  const targets = useTargets();
  return useMemo(() => {
    const names = new Map(targets?.map(({ key, name }) => [key, name]));
    return (binding) => {
      if (binding.target_type === 'global') return text.guardrails.bindings.everything;
      return targets === undefined ? undefined : (names.get(keyOf(binding)) ?? binding.target_id ?? '');
    };
  }, [targets]);
}
