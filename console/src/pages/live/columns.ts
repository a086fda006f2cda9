/** The columns of the board, in one place: its headings stand over what they name. */
export const columns = {
  /** The lane, and what leaves it. */
  lane: 'md:grid-cols-[148px_minmax(0,1fr)]',
  /** The way, and the endpoint at its end. */
  way: 'lg:grid-cols-[minmax(0,1fr)_minmax(344px,60%)]',
  /** Place, name, load and health. */
  endpoint: 'sm:grid-cols-[20px_minmax(0,1fr)_68px_138px]',
} as const;
