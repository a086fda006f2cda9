import {
  isScope,
  type RouteId,
  routeAccess,
  type Scope,
  scopesOf,
  scopesSatisfy,
  selfHostedRoutes,
} from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { capabilitiesQuery } from '../api/queries.ts';
import { useApi } from '../api/use-api.ts';

export interface Access {
  /** Whether the caller's scopes and the deployment's mode allow the route. Only hides controls; the server enforces scopes. */
  readonly can: (route: RouteId) => boolean;
  readonly missing: (route: RouteId) => readonly Scope[];
  /** For routes that return more with a scope. */
  readonly holds: (scope: Scope) => boolean;
}

export function useAccess(): Access {
  const { data } = useQuery(capabilitiesQuery(useApi()));
  return useMemo(() => {
    const held = new Set((data?.scopes ?? []).filter(isScope));
    return {
      can: (route) =>
        scopesSatisfy(routeAccess[route], held) && !(data?.mode === 'hosted' && selfHostedRoutes.has(route)),
      missing: (route) => scopesOf(routeAccess[route]).filter((scope) => !held.has(scope)),
      holds: (scope) => held.has(scope),
    };
  }, [data]);
}
