import { LaneUpdate, laneResource } from '@relay/contract';
import { defineResource } from '../resources/resource.ts';
import { storedTable } from '../resources/rows.ts';
import { membersOf } from './members.ts';
import { laneHandlers } from './routes.ts';
import { laneSection } from './section.ts';
import { toLaneDetail } from './wire.ts';

export const resources = [
  defineResource({
    noun: laneResource.section.noun,
    table: storedTable('lanes'),
    counted: 'lanes',
    callable: 'lanes',
    feature: ['lanes', 'listLanes'],
    change: {
      body: LaneUpdate,
      wire: async (_deps, db, row) => toLaneDetail(row, await membersOf(db, row)),
    },
    parts: membersOf,
    section: laneSection,
    handlers: laneHandlers,
  }),
];
