import type { Redis } from './redis.ts';

/**
 * The format of the live state: which shard an organization is in, and what the keys of a shard hold. Processes of two formats would count every
 * limit twice, so a change that the version before cannot work with raises this number.
 */
export const LIVE_FORMAT = 2;

const CHANNEL = 'relay:format:';
/** The first format had no number. Each of its processes, in any role, hears this channel. */
const CHANNEL_OF_FIRST = 'relay:wake:';

/** Tells other processes which format this one uses, for as long as it is connected. */
export async function announceFormat(redis: Pick<Redis, 'subscribe'>): Promise<void> {
  await redis.subscribe(`${CHANNEL}${LIVE_FORMAT}`, () => undefined);
}

/** Other formats whose processes are connected now. Who announces its own first and then asks cannot miss one that does the same. */
export async function otherFormats(redis: Pick<Redis, 'servers'>): Promise<readonly string[]> {
  const asked = redis
    .servers()
    .flatMap((server) =>
      [CHANNEL, CHANNEL_OF_FIRST].map((channel) => server.run(['PUBSUB', 'CHANNELS', `${channel}*`])),
    );
  const channels = (await Promise.all(asked)).flatMap((reply) => (Array.isArray(reply) ? reply : []));
  const formats = channels.map((channel) => formatOf(String(channel)));
  return [...new Set(formats)].filter((format) => format !== String(LIVE_FORMAT)).sort();
}

function formatOf(channel: string): string {
  return channel.startsWith(CHANNEL) ? channel.slice(CHANNEL.length) : '1';
}
