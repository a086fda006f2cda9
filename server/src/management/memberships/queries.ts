import { ownedRows } from '../owned-rows.ts';

export const membershipRows = ownedRows('lane_memberships');
