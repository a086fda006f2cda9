import { LANE } from '../gateways/gateway.ts';
import { bigBody, smallBody, streamBody } from '../request-bodies.ts';
import { median, rounded, type Spread, spread } from '../statistics.ts';
import type { Gateways } from './gateways.ts';
import { latencyRounds } from './latency-rounds.ts';
import { loadRounds } from './load-rounds.ts';
import type { Part, Settings } from './settings.ts';

export type Figures = Record<string, number | Spread | null>;

const CONNECTIONS = 64;
const BIG_CONNECTIONS = 8;

export interface MeasuredPart {
  readonly figures: Figures;
  /** How much of the gateways' core other processes used, in the middle slice. */
  readonly othersShare: number;
}

export const measurePart: Readonly<
  Record<Part, (gateways: Gateways, settings: Settings) => Promise<MeasuredPart>>
> = {
  async requests(gateways, settings) {
    const load = { body: smallBody(LANE), connections: CONNECTIONS, streaming: false };
    const rounds = await loadRounds(gateways, ['bare', 'relay', 'before', 'portkey'], settings, load);
    const us = rounds.names.includes('portkey') ? rounds.us('portkey') : null;
    const toBare = rounds.ratios('relay', 'bare');
    const toPortkey = us === null ? null : rounds.ratios('relay', 'portkey');
    return {
      othersShare: rounds.othersShare,
      figures: {
        bare_us: rounded(median(rounds.us('bare')), 1),
        relay_us: rounded(median(rounds.us('relay')), 1),
        portkey_us: us === null ? null : rounded(median(us), 1),
        cpu_ratio_bare: rounded(median(toBare), 3),
        cpu_ratio_portkey: toPortkey === null ? null : rounded(median(toPortkey), 3),
        bare_us_spread: spread(rounds.us('bare'), 1),
        relay_us_spread: spread(rounds.us('relay'), 1),
        portkey_us_spread: us === null ? null : spread(us, 1),
        cpu_ratio_bare_spread: spread(toBare, 3),
        cpu_ratio_portkey_spread: toPortkey === null ? null : spread(toPortkey, 3),
        requests_others_share: rounds.othersShare,
        ...rounds.toBefore('requests', 'relay', 'before'),
      },
    };
  },

  async policies(gateways, settings) {
    const load = { body: smallBody(LANE), connections: CONNECTIONS, streaming: false };
    const names = ['bare+calls', 'relay+policies', 'before+policies', 'relay', 'portkey'] as const;
    const rounds = await loadRounds(gateways, names, settings, load);
    const toBare = rounds.ratios('relay+policies', 'bare+calls');
    const toPortkey = rounds.names.includes('portkey') ? rounds.ratios('relay+policies', 'portkey') : null;
    return {
      othersShare: rounds.othersShare,
      figures: {
        cpu_ratio_policies: rounded(median(toBare), 3),
        cpu_ratio_policies_spread: spread(toBare, 3),
        policies_ratio_bare_with_calls: rounded(median(toBare), 3),
        portkey_ratio_policies: toPortkey === null ? null : rounded(median(toPortkey), 3),
        portkey_ratio_policies_spread: toPortkey === null ? null : spread(toPortkey, 3),
        policies_ratio_without: rounded(median(rounds.ratios('relay+policies', 'relay')), 3),
        policies_us: rounded(median(rounds.us('relay+policies')), 1),
        bare_with_calls_us: rounded(median(rounds.us('bare+calls')), 1),
        redis_cpu_us_policies: rounded(median(rounds.redisUs('relay+policies')), 1),
        redis_cpu_us_bare_with_calls: rounded(median(rounds.redisUs('bare+calls')), 1),
        policies_others_share: rounds.othersShare,
        ...rounds.toBefore('policies', 'relay+policies', 'before+policies'),
      },
    };
  },

  async streams(gateways, settings) {
    const load = { body: streamBody(LANE), connections: CONNECTIONS, streaming: true };
    const rounds = await loadRounds(gateways, ['bare', 'relay', 'before'], settings, load);
    const toBare = rounds.ratios('relay', 'bare');
    return {
      othersShare: rounds.othersShare,
      figures: {
        stream_ratio_bare: rounded(median(toBare), 3),
        bare_frame_us: rounded(median(rounds.us('bare')), 1),
        relay_frame_us: rounded(median(rounds.us('relay')), 1),
        stream_ratio_bare_spread: spread(toBare, 3),
        streams_others_share: rounds.othersShare,
        ...rounds.toBefore('streams', 'relay', 'before'),
      },
    };
  },

  async latency(gateways, settings) {
    const names = ['bare', 'relay', 'before', 'relay+policies'] as const;
    const rounds = await latencyRounds(gateways, names, settings);
    const [added, withPolicies] = [rounds.added('relay', 'bare'), rounds.added('relay+policies', 'bare')];
    return {
      othersShare: rounds.othersShare,
      figures: {
        added_p50_ms: rounded(median(added), 3),
        added_p50_ms_policies: rounded(median(withPolicies), 3),
        added_p50_ms_spread: spread(added, 3),
        added_p50_ms_policies_spread: spread(withPolicies, 3),
        bare_p50_ms: rounded(median(rounds.p50Ms('bare')), 3),
        relay_p50_ms: rounded(median(rounds.p50Ms('relay')), 3),
        latency_others_share: rounds.othersShare,
        ...rounds.toBefore('latency', 'relay', 'before'),
      },
    };
  },

  async 'big-body'(gateways, settings) {
    const load = { body: bigBody(LANE), connections: BIG_CONNECTIONS, streaming: false };
    const rounds = await loadRounds(gateways, ['bare', 'relay', 'before', 'reserialise'], settings, load);
    const toReserialise = rounds.ratios('relay', 'reserialise');
    return {
      othersShare: rounds.othersShare,
      figures: {
        big_body_ratio: rounded(median(toReserialise), 3),
        big_body_ratio_spread: spread(toReserialise, 3),
        big_body_bare_us: rounded(median(rounds.us('bare')), 0),
        big_body_relay_us: rounded(median(rounds.us('relay')), 0),
        big_body_reserialise_us: rounded(median(rounds.us('reserialise')), 0),
        big_body_others_share: rounds.othersShare,
        ...rounds.toBefore('big_body', 'relay', 'before'),
      },
    };
  },
};
