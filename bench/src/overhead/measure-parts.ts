import { LANE } from '../gateways/gateway.ts';
import type { Replay } from '../load/replay.ts';
import { replayRounds } from '../load/replay-rounds.ts';
import { bigBody, smallBody, streamBody } from '../request-bodies.ts';
import { median, rounded, type Spread, spread } from '../statistics.ts';
import type { Gateways, Name } from './gateways.ts';
import { latencyRounds } from './latency-rounds.ts';
import type { Part, Settings } from './settings.ts';
import { toBefore } from './to-before.ts';

export type Figures = Record<string, number | Spread | null>;

const REQUESTS = { requests: 1_000, connections: 64 };
const STREAMS = { requests: 64, connections: 64 };
const BIG_REQUESTS = { requests: 96, connections: 8 };
/** Slices of each process before the first round: Node compiles code while it runs. */
const WARM_UPS = 6;
/** A smoke run sends this share. */
const SHORT_SHARE = 0.25;

export interface MeasuredPart {
  readonly figures: Figures;
  /** How much of the gateways' core other processes used, in the middle slice. */
  readonly othersShare: number;
}

/** The rounds of a part, with the spread of its ratios, round by round, and those to the other checkout. */
async function rounds(
  gateways: Gateways,
  names: readonly Name[],
  { short, slices }: Settings,
  replay: Replay,
  unit: 'requests' | 'frames' = 'requests',
) {
  const requests = Math.ceil(replay.requests * (short ? SHORT_SHARE : 1));
  const measured = await replayRounds(
    gateways.started(names),
    { ...replay, requests },
    { unit, rounds: slices, warmUps: short ? 1 : WARM_UPS },
  );
  return {
    ...measured,
    toBefore: (part: string, of: Name, before: Name) =>
      toBefore(part, measured.names.includes(before) ? measured.ratios(of, before) : null),
  };
}

export const measurePart: Readonly<
  Record<Part, (gateways: Gateways, settings: Settings) => Promise<MeasuredPart>>
> = {
  async requests(gateways, settings) {
    const replay = { ...REQUESTS, body: smallBody(LANE) };
    const measured = await rounds(gateways, ['bare', 'relay', 'before', 'portkey'], settings, replay);
    const us = measured.names.includes('portkey') ? measured.us('portkey') : null;
    const toBare = measured.ratios('relay', 'bare');
    const toPortkey = us === null ? null : measured.ratios('relay', 'portkey');
    return {
      othersShare: measured.othersShare,
      figures: {
        bare_us: rounded(median(measured.us('bare')), 1),
        relay_us: rounded(median(measured.us('relay')), 1),
        portkey_us: us === null ? null : rounded(median(us), 1),
        cpu_ratio_bare: rounded(measured.ratio('relay', 'bare'), 3),
        cpu_ratio_portkey: toPortkey === null ? null : rounded(measured.ratio('relay', 'portkey'), 3),
        bare_us_spread: spread(measured.us('bare'), 1),
        relay_us_spread: spread(measured.us('relay'), 1),
        portkey_us_spread: us === null ? null : spread(us, 1),
        cpu_ratio_bare_spread: spread(toBare, 3),
        cpu_ratio_portkey_spread: toPortkey === null ? null : spread(toPortkey, 3),
        requests_others_share: rounded(measured.othersShare, 3),
        ...measured.toBefore('requests', 'relay', 'before'),
      },
    };
  },

  async policies(gateways, settings) {
    const replay = { ...REQUESTS, body: smallBody(LANE) };
    const names = ['bare+calls', 'relay+policies', 'before+policies', 'relay', 'portkey'] as const;
    const measured = await rounds(gateways, names, settings, replay);
    const toBare = measured.ratios('relay+policies', 'bare+calls');
    const ratio = measured.ratio('relay+policies', 'bare+calls');
    const toPortkey = measured.names.includes('portkey')
      ? measured.ratios('relay+policies', 'portkey')
      : null;
    return {
      othersShare: measured.othersShare,
      figures: {
        cpu_ratio_policies: rounded(ratio, 3),
        cpu_ratio_policies_spread: spread(toBare, 3),
        policies_ratio_bare_with_calls: rounded(ratio, 3),
        portkey_ratio_policies:
          toPortkey === null ? null : rounded(measured.ratio('relay+policies', 'portkey'), 3),
        portkey_ratio_policies_spread: toPortkey === null ? null : spread(toPortkey, 3),
        policies_ratio_without: rounded(measured.ratio('relay+policies', 'relay'), 3),
        policies_us: rounded(median(measured.us('relay+policies')), 1),
        bare_with_calls_us: rounded(median(measured.us('bare+calls')), 1),
        redis_cpu_us_policies: rounded(median(measured.redisUs('relay+policies')), 1),
        redis_cpu_us_bare_with_calls: rounded(median(measured.redisUs('bare+calls')), 1),
        policies_others_share: rounded(measured.othersShare, 3),
        ...measured.toBefore('policies', 'relay+policies', 'before+policies'),
      },
    };
  },

  async streams(gateways, settings) {
    const replay = { ...STREAMS, body: streamBody(LANE) };
    const measured = await rounds(gateways, ['bare', 'relay', 'before'], settings, replay, 'frames');
    const toBare = measured.ratios('relay', 'bare');
    return {
      othersShare: measured.othersShare,
      figures: {
        stream_ratio_bare: rounded(measured.ratio('relay', 'bare'), 3),
        bare_frame_us: rounded(median(measured.us('bare')), 1),
        relay_frame_us: rounded(median(measured.us('relay')), 1),
        stream_ratio_bare_spread: spread(toBare, 3),
        streams_others_share: rounded(measured.othersShare, 3),
        ...measured.toBefore('streams', 'relay', 'before'),
      },
    };
  },

  async latency(gateways, settings) {
    const names = ['bare', 'relay', 'before', 'relay+policies'] as const;
    const measured = await latencyRounds(gateways, names, settings);
    const [added, withPolicies] = [measured.added('relay', 'bare'), measured.added('relay+policies', 'bare')];
    return {
      othersShare: measured.othersShare,
      figures: {
        added_p50_ms: rounded(median(added), 3),
        added_p50_ms_policies: rounded(median(withPolicies), 3),
        added_p50_ms_spread: spread(added, 3),
        added_p50_ms_policies_spread: spread(withPolicies, 3),
        bare_p50_ms: rounded(median(measured.p50Ms('bare')), 3),
        relay_p50_ms: rounded(median(measured.p50Ms('relay')), 3),
        latency_others_share: rounded(measured.othersShare, 3),
        ...measured.toBefore('latency', 'relay', 'before'),
      },
    };
  },

  async 'big-body'(gateways, settings) {
    const replay = { ...BIG_REQUESTS, body: bigBody(LANE) };
    const measured = await rounds(gateways, ['bare', 'relay', 'before', 'reserialise'], settings, replay);
    const toReserialise = measured.ratios('relay', 'reserialise');
    return {
      othersShare: measured.othersShare,
      figures: {
        big_body_ratio: rounded(measured.ratio('relay', 'reserialise'), 3),
        big_body_ratio_spread: spread(toReserialise, 3),
        big_body_bare_us: rounded(median(measured.us('bare')), 0),
        big_body_relay_us: rounded(median(measured.us('relay')), 0),
        big_body_reserialise_us: rounded(median(measured.us('reserialise')), 0),
        big_body_others_share: rounded(measured.othersShare, 3),
        ...measured.toBefore('big_body', 'relay', 'before'),
      },
    };
  },
};
