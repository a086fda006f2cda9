import type { Fault } from '@relay/provider-sim';
import { leases } from '../harness/live-state.ts';
import { afterMs, until } from '../harness/until.ts';
import type { NetworkedMember } from './fleet.ts';
import { awayMs, type Kill, type Scene } from './kills.ts';
import { tagOf } from './provider-log.ts';
import { isStream, KINDS, type Kind, STREAM_KINDS, someWords } from './request.ts';
import { AT_ONCE_MAX, type Target } from './world.ts';

const MOMENT_MS_MAX = 8_000;
const REQUESTS = 6;
const DEAD_MS_MAX = 60_000;

export async function livingGateways({ fleet }: Scene): Promise<NetworkedMember[]> {
  const alive = () => fleet.gateways.filter(({ process }) => process !== null);
  if (!(await until(() => alive().length > 0, DEAD_MS_MAX))) throw new Error('no gateway came back');
  return alive();
}

async function pickVictim(scene: Scene): Promise<{ member: NetworkedMember; url: string }> {
  const member = scene.random.pick(await livingGateways(scene));
  return { member, url: member.process?.url ?? '' };
}

function sendSeveral(
  { load, random }: Scene,
  victim: { member: NetworkedMember; url: string },
  setup: { target: Target; kinds: readonly Kind[]; sim: (kind: Kind) => Fault; count?: number },
): string[] {
  return Array.from({ length: setup.count ?? REQUESTS }, () => {
    const kind = random.pick(setup.kinds);
    const asking = { target: setup.target, kind, sim: setup.sim(kind), words: someWords(random) };
    return load.send({ name: victim.member.name, url: victim.url }, { ...asking, hangUpAfterMs: null }).tag;
  });
}

/** At any moment. */
export const anywhere: Kill = async (scene) => {
  const { member } = await pickVictim(scene);
  await scene.fleet.kill(member, awayMs(scene));
  return true;
};

/** While some of its requests are queued. */
export const whileWaiting: Kill = async (scene) => {
  const { fleet, world } = scene;
  const victim = await pickVictim(scene);
  const tags = sendSeveral(scene, victim, {
    target: world.limited,
    kinds: KINDS,
    count: 2 * AT_ONCE_MAX,
    sim: () => ({ delayMs: 1_500 }),
  });
  const seen = await until(async () => {
    const waiting = (await leases(fleet.redis.port)).filter(({ state }) => state !== 'dispatched');
    return waiting.some(({ tag }) => tags.includes(tag));
  }, MOMENT_MS_MAX);
  await fleet.kill(victim.member, awayMs(scene));
  return seen;
};

/** When requests are admitted and have not reached the provider. */
export const beforeDispatch: Kill = async (scene) => {
  const { fleet, world, random } = scene;
  const victim = await pickVictim(scene);
  fleet.gate.stall();
  const target = random.pick(world.gated);
  const tags = sendSeveral(scene, victim, { target, kinds: KINDS, sim: () => ({}) });
  const seen = await until(async () => {
    const admitted = (await leases(fleet.redis.port)).filter(({ state }) => state === 'dispatched');
    return admitted.some(({ tag }) => tags.includes(tag));
  }, MOMENT_MS_MAX);
  const arrived = await fleet.provider.of(tags);
  await fleet.kill(victim.member, awayMs(scene));
  // The blocked requests must not arrive later.
  fleet.gate.cut();
  await fleet.gate.heal();
  return seen && arrived.length === 0;
};

/** In the middle of streams. */
export const inMidStream: Kill = async (scene) => {
  const { fleet, world, random } = scene;
  const victim = await pickVictim(scene);
  const target = random.pick([world.limited, ...world.unlimited, ...world.falling]);
  const tags = sendSeveral(scene, victim, {
    target,
    kinds: STREAM_KINDS,
    sim: () => ({ frames: 100, frameDelayMs: 50 }),
  });
  const seen = await until(async () => {
    const entries = await fleet.provider.of(tags);
    return entries.some(({ outcome, writtenTokens }) => outcome === 'pending' && writtenTokens > 5);
  }, MOMENT_MS_MAX);
  await fleet.kill(victim.member, awayMs(scene));
  return seen;
};

/** When the provider has finished requests that are not settled in Redis. */
export const beforeSettle: Kill = async (scene) => {
  const { fleet, world, random } = scene;
  const victim = await pickVictim(scene);
  const target = random.pick([world.limited, ...world.unlimited]);
  const sim = (kind: Kind): Fault =>
    isStream(kind) ? { frames: 12, frameDelayMs: 60 } : { delayMs: 700, outputTokens: 20 };
  const tags = sendSeveral(scene, victim, { target, kinds: KINDS, sim, count: AT_ONCE_MAX - 2 });
  const begun = new Set<string>();
  await until(async () => {
    for (const entry of await fleet.provider.of(tags))
      if (entry.outcome === 'pending') begun.add(tagOf(entry));
    return begun.size > 0;
  }, MOMENT_MS_MAX);
  // No request can be settled from here on.
  fleet.redis.pause();
  const seen = await until(async () => {
    const entries = await fleet.provider.of([...begun]);
    return entries.some(({ outcome }) => outcome === 'completed');
  }, 3_000);
  // Sometimes before the gateway gives up on Redis, sometimes after.
  await afterMs(random.between(0, 900));
  await fleet.kill(victim.member, awayMs(scene));
  fleet.redis.resume();
  return seen;
};
