import { laneResource } from '@relay/contract';
import { defineResource } from '../resources/resource.ts';
import { storedTable } from '../resources/rows.ts';
import { laneHandlers } from './routes.ts';
import { laneSection } from './section.ts';

export const resources = [
  defineResource({
    noun: laneResource.section.noun,
    table: storedTable('lanes'),
    counted: 'lanes',
    feature: ['lanes', 'listLanes'],
    section: laneSection,
    handlers: laneHandlers,
  }),
];
