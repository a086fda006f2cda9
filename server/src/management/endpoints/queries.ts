import { ownedRows } from '../owned-rows.ts';

export const endpointRows = ownedRows('endpoints');
