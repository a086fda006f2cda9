/** Where the table of endpoints is too narrow for a column, the same stands below the name. The table's own width decides. */
export const narrowed = {
  /** Signal and load. */
  state: '@max-[480px]:hidden',
  stateBelow: '@min-[480px]:hidden',
  /** Time to first token and cost. */
  figures: '@max-[680px]:hidden',
  figuresBelow: '@min-[680px]:hidden',
} as const;
