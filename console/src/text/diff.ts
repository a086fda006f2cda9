/** What was and what is. */
export const diffText = {
  none: 'none',
  secret: 'A secret, which is not shown',
} as const;
