import type { RouteId } from '@relay/contract';
import {
  BellRing,
  Boxes,
  ChartColumn,
  Coins,
  FileCog,
  Gauge,
  House,
  KeyRound,
  List,
  type LucideIcon,
  ReceiptText,
  Route,
  ScrollText,
  Server,
  Settings,
  ShieldCheck,
  SquareTerminal,
  Users,
  UsersRound,
  Waypoints,
} from 'lucide-react';
import { text } from '../text/index.ts';

export type PageGroup = keyof typeof text.shell.groups;

export interface PageEntry {
  readonly path: string;
  readonly label: string;
  readonly icon: LucideIcon;
  readonly group: PageGroup;
  /** The route that the page needs. Callers without access to it do not see the page. */
  readonly needs: RouteId;
  /** Only in deployments with accounts. */
  readonly accountsOnly?: boolean;
}

/** Every page, in the order of the navigation and the palette. */
export const pageTable: readonly PageEntry[] = [
  { path: '/home', label: text.pages.home, icon: House, group: 'overview', needs: 'getTimeseries' },
  {
    path: '/playground',
    label: text.pages.playground,
    icon: SquareTerminal,
    group: 'overview',
    needs: 'createChatCompletion',
  },
  { path: '/requests', label: text.pages.requests, icon: List, group: 'overview', needs: 'listRequests' },
  { path: '/usage', label: text.pages.usage, icon: ChartColumn, group: 'overview', needs: 'getTimeseries' },
  { path: '/showback', label: text.pages.showback, icon: Coins, group: 'overview', needs: 'getShowback' },
  { path: '/live', label: text.pages.live, icon: Waypoints, group: 'overview', needs: 'getLive' },
  { path: '/lanes', label: text.pages.lanes, icon: Route, group: 'routing', needs: 'listLanes' },
  { path: '/endpoints', label: text.pages.endpoints, icon: Boxes, group: 'routing', needs: 'listEndpoints' },
  { path: '/providers', label: text.pages.providers, icon: Server, group: 'routing', needs: 'listProviders' },
  {
    path: '/guardrails',
    label: text.pages.guardrails,
    icon: ShieldCheck,
    group: 'control',
    needs: 'listGuardrails',
  },
  {
    path: '/keys',
    label: text.pages.keys,
    icon: KeyRound,
    group: 'control',
    needs: 'listApiKeys',
  },
  { path: '/limits', label: text.pages.limits, icon: Gauge, group: 'control', needs: 'listLimitUsage' },
  { path: '/teams', label: text.pages.teams, icon: UsersRound, group: 'control', needs: 'listTeams' },
  { path: '/alerts', label: text.pages.alerts, icon: BellRing, group: 'control', needs: 'listAlerts' },
  {
    path: '/configuration',
    label: text.pages.configuration,
    icon: FileCog,
    group: 'control',
    needs: 'exportConfig',
  },
  {
    path: '/members',
    label: text.pages.members,
    icon: Users,
    group: 'organization',
    needs: 'listMembers',
    accountsOnly: true,
  },
  {
    path: '/billing',
    label: text.pages.billing,
    icon: ReceiptText,
    group: 'organization',
    needs: 'getBillingHistory',
  },
  { path: '/audit', label: text.pages.audit, icon: ScrollText, group: 'organization', needs: 'listAuditLog' },
  {
    path: '/settings',
    label: text.pages.settings,
    icon: Settings,
    group: 'organization',
    needs: 'getSession',
  },
];
