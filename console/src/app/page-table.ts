import type { RouteId } from '@relay/contract';
import { Boxes, KeyRound, type LucideIcon, Route, Server, SquareTerminal } from 'lucide-react';
import { text } from '../text/index.ts';

export type PageGroup = keyof typeof text.shell.groups;

export interface PageEntry {
  readonly path: string;
  readonly label: string;
  readonly icon: LucideIcon;
  readonly group: PageGroup;
  /** The route that the page cannot do without: who may not call it does not see the page. */
  readonly needs: RouteId;
  /** Only where users, keys and budgets exist. */
  readonly accountsOnly?: boolean;
}

/** Every page, in the order of the navigation and the palette. A page that is not here does not exist. */
export const pageTable: readonly PageEntry[] = [
  {
    path: '/playground',
    label: text.pages.playground,
    icon: SquareTerminal,
    group: 'overview',
    needs: 'createChatCompletion',
  },
  { path: '/lanes', label: text.pages.lanes, icon: Route, group: 'routing', needs: 'listLanes' },
  { path: '/endpoints', label: text.pages.endpoints, icon: Boxes, group: 'routing', needs: 'listEndpoints' },
  { path: '/providers', label: text.pages.providers, icon: Server, group: 'routing', needs: 'listProviders' },
  {
    path: '/keys',
    label: text.pages.keys,
    icon: KeyRound,
    group: 'control',
    needs: 'listApiKeys',
    accountsOnly: true,
  },
];
