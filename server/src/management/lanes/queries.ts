import { ownedRows } from '../owned-rows.ts';

export const laneRows = ownedRows('lanes');
