import { useQueries } from '@tanstack/react-query';
import { requestIdIn } from '../address/request-search.ts';
import { guardrailsQuery } from '../api/guardrail-queries.ts';
import { membersQuery, orgApiKeysQuery } from '../api/people-queries.ts';
import { apiKeysQuery, endpointsQuery, lanesQuery, providersQuery } from '../api/queries.ts';
import { teamsQuery } from '../api/team-queries.ts';
import { useApi } from '../api/use-api.ts';
import { matches } from '../format/matches.ts';
import { useAccess } from '../session/use-access.ts';
import { usePages } from '../session/use-pages.ts';
import { text } from '../text/index.ts';
import { useActions } from './palette-actions.ts';
import { useLimitTargets } from './palette-limits.ts';
import type { Target } from './palette-target.ts';

const words = text.palette;
/** Of each kind; typing more narrows the list. */
const ITEMS_MAX = 20;

interface TargetGroup {
  readonly heading: string;
  readonly targets: readonly Target[];
}

/** What matches the query. Uses the lists that pages have cached, and reads those that are missing. */
export function useTargets(query: string): readonly TargetGroup[] {
  const pages = usePages();
  const { can } = useAccess();
  const routing = useRouting(query);
  const people = usePeople(query);
  const requestId = can('getRequest') ? requestIdIn(query) : null;
  const actions = useActions();
  const limits = useLimitTargets(query.trim() !== '');
  return [
    { heading: words.requests, targets: requestId === null ? [] : [requestTarget(requestId)] },
    {
      heading: words.pages,
      targets: pages
        .filter(({ path, label }) => matches(query, label, words.aliases[path] ?? null))
        .map(({ path, label }) => ({ value: path, label, to: path })),
    },
    {
      heading: words.actionsTitle,
      targets: actions.filter(({ label, aliases = null }) => matches(query, label, aliases)),
    },
    ...routing,
    ...people,
    { heading: words.limits, targets: found(query, limits, ({ label }) => [label]) },
  ];
}

function useRouting(query: string): readonly TargetGroup[] {
  const api = useApi();
  const { can } = useAccess();
  const [lanes, endpoints, providers] = useQueries({
    queries: [
      { ...lanesQuery(api), enabled: can('listLanes') },
      { ...endpointsQuery(api), enabled: can('listEndpoints') },
      { ...providersQuery(api), enabled: can('listProviders') },
    ],
  });
  return [
    {
      heading: words.lanes,
      targets: found(query, lanes.data, ({ id, name, slug }) => [name, slug, id]).map(
        ({ id, name, slug }) => ({
          value: id,
          label: name,
          note: slug,
          kind: words.kinds.lane,
          to: `/lanes/${id}`,
        }),
      ),
    },
    {
      heading: words.endpoints,
      targets: found(query, endpoints.data, (each) => [each.name, each.upstream_model, each.id]).map(
        ({ id, name, upstream_model: note }) => ({
          ...rowTarget('/endpoints', id, name),
          note,
          kind: words.kinds.endpoint,
        }),
      ),
    },
    {
      heading: words.providers,
      targets: found(query, providers.data, ({ id, name, slug }) => [name, slug, id]).map(({ id, name }) => ({
        ...rowTarget('/providers', id, name),
        kind: words.kinds.provider,
      })),
    },
  ];
}

/** Keys, members, teams and guardrails: long lists that few open the palette for, so they are read once something is typed. */
function usePeople(query: string): readonly TargetGroup[] {
  const api = useApi();
  const { can } = useAccess();
  const isTyped = query.trim() !== '';
  const ofAll = can('listOrgApiKeys');
  const [keys, ownKeys, members, teams, guardrails] = useQueries({
    queries: [
      { ...orgApiKeysQuery(api), enabled: isTyped && ofAll },
      { ...apiKeysQuery(api), enabled: isTyped && !ofAll && can('listApiKeys') },
      { ...membersQuery(api), enabled: isTyped && can('listMembers') },
      { ...teamsQuery(api), enabled: isTyped && can('listTeams') },
      { ...guardrailsQuery(api), enabled: isTyped && can('listGuardrails') },
    ],
  });
  if (!isTyped) return [];
  const active = (keys.data ?? ownKeys.data)?.filter(({ status }) => status === 'active');
  return [
    {
      heading: words.keys,
      targets: found(query, active, (key) => [key.name, key.key_prefix, key.id]).map(
        ({ id, name, key_prefix: note }) => ({
          value: id,
          label: name,
          note,
          kind: words.kinds.key,
          to: '/keys',
          search: { open: id },
        }),
      ),
    },
    {
      heading: words.members,
      targets: found(query, members.data, ({ name, email, id }) => [name, email, id]).map(
        ({ id, name, email }) => ({
          value: id,
          label: name,
          note: email,
          kind: words.kinds.member,
          to: '/members',
          search: { q: email },
        }),
      ),
    },
    {
      heading: words.teams,
      targets: found(query, teams.data, ({ name, slug, id }) => [name, slug, id]).map(
        ({ id, name, slug }) => ({
          value: id,
          label: name,
          note: slug,
          kind: words.kinds.team,
          to: '/teams',
          search: { q: name },
        }),
      ),
    },
    {
      heading: words.guardrails,
      targets: found(query, guardrails.data, ({ name, id }) => [name, id]).map(({ id, name }) => ({
        value: id,
        label: name,
        kind: words.kinds.guardrail,
        to: `/guardrails/${id}`,
      })),
    },
  ];
}

function found<T>(
  query: string,
  list: readonly T[] | undefined,
  textsOf: (each: T) => readonly string[],
): readonly T[] {
  return (list ?? []).filter((each) => matches(query, ...textsOf(each))).slice(0, ITEMS_MAX);
}

function requestTarget(id: string): Target {
  return {
    value: `request ${id}`,
    label: words.openRequest(id),
    to: `/requests/${id}`,
  };
}

/** A row of a list page, opened in its panel. */
function rowTarget(to: string, id: string, label: string): Target {
  return { value: id, label, to, search: { open: id } };
}
