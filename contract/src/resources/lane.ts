import Type, { type Static } from 'typebox';
import { closed, flag, Id, integer, Name, nullable, oneOf, optional, Slug, text } from '../schema.ts';
import { ManagedBy } from './values.ts';

const WaitMs = integer({ maximum: 3_600_000, default: 30_000, description: 'The wait budget.' });
const Selection = oneOf(['preferred', 'soonest'], {
  default: 'preferred',
  description:
    '`preferred` waits for the highest-ranked candidate that fits the wait budget; `soonest` takes the first candidate free now in rank order, else the soonest.',
});
const Description = nullable(text());
const Hidden = flag({ default: false, description: 'Whether the lane is left out of the model list.' });

export const Lane = closed('Lane', {
  id: Id,
  name: Type.String(),
  slug: Slug,
  description: Description,
  default_max_wait_ms: WaitMs,
  allow_fallback: flag(),
  selection: Selection,
  hidden: Hidden,
  enabled: flag(),
  managed_by: optional(ManagedBy),
});
export type Lane = Static<typeof Lane>;

const extra = {
  description: optional(Description),
  selection: optional(Selection),
  hidden: optional(Hidden),
};

export const LaneCreate = closed('LaneCreate', {
  name: Name,
  default_max_wait_ms: optional(WaitMs),
  allow_fallback: optional(flag({ default: true })),
  enabled: optional(flag({ default: true })),
  ...extra,
});
export type LaneCreate = Static<typeof LaneCreate>;

export const LaneUpdate = closed('LaneUpdate', {
  name: Name,
  default_max_wait_ms: WaitMs,
  allow_fallback: flag(),
  enabled: flag(),
  ...extra,
});
export type LaneUpdate = Static<typeof LaneUpdate>;

const Rank = integer({ maximum: 1_000_000, description: 'Lower ranks are preferred.' });

export const Membership = closed('Membership', {
  id: Id,
  lane_id: Id,
  endpoint_id: Id,
  manual_rank: Rank,
  enabled: flag(),
  managed_by: optional(ManagedBy),
});
export type Membership = Static<typeof Membership>;

export const MembershipCreate = closed('MembershipCreate', {
  lane_id: Id,
  endpoint_id: Id,
  manual_rank: Rank,
  enabled: optional(flag({ default: true })),
});
export type MembershipCreate = Static<typeof MembershipCreate>;

export const MembershipUpdate = closed('MembershipUpdate', { manual_rank: Rank, enabled: flag() });
export type MembershipUpdate = Static<typeof MembershipUpdate>;
