/** Changes from old to new values. */
export const diffText = {
  none: 'none',
  secret: 'Secret, not shown',
} as const;
