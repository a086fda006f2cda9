/** The grid columns of the board, shared by headings and rows. Narrow windows stack them and leave the tracks out. */
export const columns = {
  /** Name, queue, gate, ways to the endpoints; in wide windows also the last 24 hours. */
  lane: 'lg:grid-cols-[132px_150px_76px_minmax(0,1fr)] xl:grid-cols-[150px_180px_80px_minmax(0,1fr)] min-[87.5rem]:grid-cols-[156px_196px_84px_minmax(0,1fr)_176px]',
  /** The track, the endpoint with its rank, load and signal. */
  way: 'grid-cols-[minmax(0,1fr)_76px_minmax(0,1fr)] xl:grid-cols-[44px_minmax(40px,1fr)_156px_92px_minmax(0,164px)]',
  /** Requests, p95 wait and fallbacks. */
  day: 'grid grid-cols-[1fr_1fr_1fr] text-right gap-x-2 max-[87.5rem]:hidden',
} as const;

/** The height of a way, which the turnout is drawn by. */
export const WAY_PX = 32;

/** The cells of the tables below the board. */
export const cells = {
  head: 'h-[28px] pr-3 font-medium whitespace-nowrap',
  text: 'h-[30px] max-w-0 truncate pr-3',
  link: "font-medium after:absolute after:inset-0 after:content-['']",
} as const;
