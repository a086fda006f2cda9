import { ownedRows } from '../owned-rows.ts';

export const limitPolicyRows = ownedRows('limit_policies');
