import { ownedRows } from '../owned-rows.ts';

export const pricingPolicyRows = ownedRows('pricing_policies');
