import type { RouteId } from '@relay/contract';
import { text } from '../text/index.ts';

export type PageGroup = keyof typeof text.shell.groups;

export interface PageEntry {
  readonly path: string;
  readonly label: string;
  readonly group: PageGroup;
  /** The route that the page needs. Callers without access to it do not see the page. */
  readonly needs: RouteId;
  /** Only in deployments with accounts. */
  readonly accountsOnly?: boolean;
}

/** Every page, in the order of the navigation and the palette. */
export const pageTable: readonly PageEntry[] = [
  { path: '/home', label: text.pages.home, group: 'overview', needs: 'getTimeseries' },
  { path: '/live', label: text.pages.live, group: 'overview', needs: 'getLive' },
  { path: '/requests', label: text.pages.requests, group: 'overview', needs: 'listRequests' },
  { path: '/usage', label: text.pages.usage, group: 'overview', needs: 'getTimeseries' },
  { path: '/showback', label: text.pages.showback, group: 'overview', needs: 'getShowback' },
  {
    path: '/playground',
    label: text.pages.playground,
    group: 'overview',
    needs: 'createChatCompletion',
  },
  { path: '/lanes', label: text.pages.lanes, group: 'routing', needs: 'listLanes' },
  { path: '/endpoints', label: text.pages.endpoints, group: 'routing', needs: 'listEndpoints' },
  { path: '/providers', label: text.pages.providers, group: 'routing', needs: 'listProviders' },
  { path: '/limits', label: text.pages.limits, group: 'control', needs: 'listLimitUsage' },
  {
    path: '/keys',
    label: text.pages.keys,
    group: 'control',
    needs: 'listApiKeys',
  },
  {
    path: '/guardrails',
    label: text.pages.guardrails,
    group: 'control',
    needs: 'listGuardrails',
  },
  { path: '/teams', label: text.pages.teams, group: 'control', needs: 'listTeams' },
  { path: '/alerts', label: text.pages.alerts, group: 'control', needs: 'listAlerts' },
  {
    path: '/members',
    label: text.pages.members,
    group: 'organization',
    needs: 'listMembers',
    accountsOnly: true,
  },
  {
    path: '/billing',
    label: text.pages.billing,
    group: 'organization',
    needs: 'getBillingHistory',
  },
  { path: '/audit', label: text.pages.audit, group: 'organization', needs: 'listAuditLog' },
  {
    path: '/configuration',
    label: text.pages.configuration,
    group: 'organization',
    needs: 'exportConfig',
  },
  {
    path: '/settings',
    label: text.pages.settings,
    group: 'organization',
    needs: 'getSession',
  },
];
