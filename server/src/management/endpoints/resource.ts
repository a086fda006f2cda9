import { endpointResource } from '@relay/contract';
import { defineResource } from '../resources/resource.ts';
import { storedTable } from '../resources/rows.ts';
import { endpointHandlers } from './routes.ts';
import { endpointSection } from './section.ts';

export const resources = [
  defineResource({
    noun: endpointResource.section.noun,
    table: storedTable('endpoints'),
    counted: 'endpoints',
    feature: ['endpoints', 'listEndpoints'],
    section: endpointSection,
    handlers: endpointHandlers,
  }),
];
