import { listSearch } from './list-search.ts';

/** The URL parameters of the audit log, besides the time range. */
export interface AuditSearch {
  readonly actor?: string;
  readonly action?: string;
  readonly type?: string;
  /** The ID of one object. */
  readonly target?: string;
  readonly open?: string;
}

export type ConfigurationView = 'current' | 'compare' | 'owned';

export interface ConfigurationSearch {
  readonly view?: ConfigurationView;
  readonly q?: string;
}

export const billingTabs = [
  'invoices',
  'payments',
  'refunds',
  'disputes',
  'activities',
  'statement',
] as const;
export type BillingTab = (typeof billingTabs)[number];

export const statementGroups = ['organization', 'user', 'key'] as const;
export type StatementGroup = (typeof statementGroups)[number];

export interface BillingSearch {
  readonly tab?: BillingTab;
  /** As YYYY-MM; the current month when missing. */
  readonly month?: string;
  readonly by?: StatementGroup;
}

export function auditSearch(search: Record<string, unknown>): AuditSearch {
  const { open } = listSearch(search);
  const words = Object.fromEntries(
    (['actor', 'action', 'type', 'target'] as const).flatMap((name) => {
      const value = search[name];
      return typeof value === 'string' && value !== '' ? [[name, value]] : [];
    }),
  );
  return { ...words, ...(open === undefined ? {} : { open }) };
}

export function configurationSearch(search: Record<string, unknown>): ConfigurationSearch {
  const { view } = search;
  const { q } = listSearch(search);
  return {
    ...(view === 'compare' || view === 'owned' ? { view } : {}),
    ...(q === undefined ? {} : { q }),
  };
}

const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/;

export function billingSearch(search: Record<string, unknown>): BillingSearch {
  const { month } = search;
  const tab = billingTabs.find((each) => each === search['tab']);
  const by = statementGroups.find((each) => each === search['by']);
  return {
    ...(tab === undefined ? {} : { tab }),
    ...(by === undefined ? {} : { by }),
    ...(typeof month === 'string' && MONTH.test(month) ? { month } : {}),
  };
}
