import { EndpointUpdate, endpointResource } from '@relay/contract';
import { defineResource } from '../resources/resource.ts';
import { storedTable } from '../resources/rows.ts';
import { endpointHandlers, toOneEndpoint } from './routes.ts';
import { endpointSection } from './section.ts';

export const resources = [
  defineResource({
    noun: endpointResource.section.noun,
    table: storedTable('endpoints'),
    counted: 'endpoints',
    callable: 'endpoints',
    feature: ['endpoints', 'listEndpoints'],
    change: { body: EndpointUpdate, wire: (deps, _db, row) => toOneEndpoint(deps, row) },
    section: endpointSection,
    handlers: endpointHandlers,
  }),
];
