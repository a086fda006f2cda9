const PAGE_ROWS = 1_000;
const PAGES_MAX = 50;

interface Page<T> {
  readonly data?: readonly T[];
  readonly response: Response;
}

/**
 * Reads a whole list of configuration, page by page. A limit on the pages protects the browser from an endless
 * list.
 */
export async function collectPages<T>(
  fetchPage: (query: { limit: number; cursor?: string }) => Promise<Page<T>>,
): Promise<T[]> {
  const rows: T[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const query: { limit: number; cursor?: string } = { limit: PAGE_ROWS };
    if (cursor !== null) query.cursor = cursor;
    const { data, response } = await fetchPage(query);
    rows.push(...(data ?? []));
    cursor = response.headers.get('x-next-cursor');
    if (cursor === null) break;
  }
  return rows;
}
