/** The grid columns of the board, shared by headings and rows. */
export const columns = {
  /** The lane and its tracks. */
  lane: 'md:grid-cols-[148px_minmax(0,1fr)]',
  /** The track and its endpoint. */
  way: 'lg:grid-cols-[minmax(0,1fr)_minmax(344px,60%)]',
  /** Rank, name, load and health. */
  endpoint: 'sm:grid-cols-[20px_minmax(0,1fr)_68px_138px]',
} as const;
