import { parseObject } from '../../kit/json-value.ts';
import type { Log } from '../../kit/log.ts';
import type { Redis } from '../../store/redis/redis.ts';
import { prefixOf } from '../../store/redis/shards.ts';
import { type HealthMessage, type HealthStore, KEPT_MS } from './health-store.ts';

const CHANNEL = 'relay:health';
const READ_MAX = 500;

/** The rules are in TypeScript. The script only makes a change atomic: it fails if another gateway was faster. */
const REPLACE = `
local stored = redis.call('GET', KEYS[1])
if (stored or '') ~= ARGV[1] then return stored or '' end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`;

/**
 * One key for each endpoint or credential, in the slot of its organization, which expires by itself. Changes that other gateways
 * have to act on are published.
 */
export function createRedisHealthStore({ redis, log }: { redis: Redis; log: Log }): HealthStore {
  return {
    async read(organizationId, subjects) {
      const texts: (string | null)[] = [];
      for (let from = 0; from < subjects.length; from += READ_MAX) {
        const keys = subjects.slice(from, from + READ_MAX).map((subject) => keyOf(organizationId, subject));
        const reply = await redis.run(['MGET', ...keys], keys[0]);
        for (const value of Array.isArray(reply) ? reply : []) texts.push(textOf(value));
      }
      return texts;
    },
    async replace(organizationId, subject, before, after) {
      const key = keyOf(organizationId, subject);
      const command = ['EVAL', REPLACE, '1', key, before ?? '', after, String(KEPT_MS)];
      const reply = await redis.run(command, key);
      if (reply === 1) return { replaced: true };
      return { replaced: false, stored: textOf(reply) };
    },
    async claimProbe(organizationId, subject, forMs) {
      const key = `${keyOf(organizationId, subject)}:probe`;
      return (await redis.run(['SET', key, '1', 'NX', 'PX', String(Math.ceil(forMs))], key)) !== null;
    },
    announce(message) {
      redis.run(['PUBLISH', CHANNEL, JSON.stringify(message)]).catch((error: unknown) => {
        // Gateways that do not hear of it read it within seconds, or see the same faults themselves.
        log.warn(
          { err: error, subject: message.subject },
          'could not announce a health change to other processes',
        );
      });
    },
    subscribe: (listener) =>
      redis.subscribe(CHANNEL, (text) => {
        const message = parseObject(text);
        if (message === null) log.warn('ignored an unreadable health announcement');
        else listener(message as unknown as HealthMessage);
      }),
  };
}

function keyOf(organizationId: string, subject: string): string {
  return `${prefixOf(organizationId)}${organizationId}:health:${subject}`;
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  const text = String(value);
  return text === '' ? null : text;
}
