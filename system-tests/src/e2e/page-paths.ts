/** Every page that stands in the navigation: each must hold in both themes and at both widths. */
export const pagePaths = [
  'home',
  'playground',
  'requests',
  'usage',
  'live',
  'lanes',
  'endpoints',
  'providers',
  'keys',
  'guardrails',
  'limits',
  'members',
  'settings',
  'configuration',
  'billing',
  'audit',
] as const;
