import { providerResource } from '@relay/contract';
import { defineResource } from '../resources/resource.ts';
import { storedTable } from '../resources/rows.ts';
import { providerHandlers } from './routes.ts';
import { providerSection } from './section.ts';

export const resources = [
  defineResource({
    noun: providerResource.section.noun,
    table: storedTable('providers'),
    counted: 'providers',
    feature: ['providers', 'listProviders'],
    section: providerSection,
    handlers: providerHandlers,
  }),
];
