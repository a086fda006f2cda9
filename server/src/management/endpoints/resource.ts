import { EndpointUpdate, endpointResource } from '@relay/contract';
import { endpointHealth } from '../endpoint-health.ts';
import { defineResource } from '../resources/resource.ts';
import { storedTable } from '../resources/rows.ts';
import { endpointHandlers } from './routes.ts';
import { endpointSection } from './section.ts';
import { toEndpoint } from './wire.ts';

export const resources = [
  defineResource({
    noun: endpointResource.section.noun,
    table: storedTable('endpoints'),
    counted: 'endpoints',
    feature: ['endpoints', 'listEndpoints'],
    change: {
      body: EndpointUpdate,
      wire: (deps, _db, row) => toEndpoint(row, endpointHealth(deps, row.id)),
    },
    section: endpointSection,
    handlers: endpointHandlers,
  }),
];
