/**
 * The servers in `REDIS_URL`: one URL, or comma-separated URLs of some nodes of a cluster. Throws with a message that says
 * what the value must be. Nodes that the cluster names are reached with the first one's scheme and credentials, so all must
 * share them.
 */
export function parseRedisUrls(text: string): string[] {
  const urls = text.split(',').map((each) => each.trim());
  const parsed = urls.map(parseOne);
  const [first] = parsed;
  if (first === undefined || parsed.length === 1) return urls;
  for (const url of parsed) {
    if (url.protocol !== first.protocol || url.username !== first.username || url.password !== first.password)
      throw new Error('must have the same scheme and credentials in every URL of a cluster');
    if (url.pathname !== '' && url.pathname !== '/' && url.pathname !== '/0')
      throw new Error('must not name a database: a cluster has only one');
  }
  return urls;
}

function parseOne(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['redis:', 'rediss:'].includes(url.protocol) || url.hostname === '')
    throw new Error('must be a URL starting with redis:// or rediss://, or several separated by commas');
  return url;
}
