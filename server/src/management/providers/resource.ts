import { ProviderUpdate, providerResource } from '@relay/contract';
import { defineResource } from '../resources/resource.ts';
import { storedTable } from '../resources/rows.ts';
import { providerHandlers, toOneProvider } from './routes.ts';
import { providerSection } from './section.ts';

export const resources = [
  defineResource({
    noun: providerResource.section.noun,
    table: storedTable('providers'),
    counted: 'providers',
    feature: ['providers', 'listProviders'],
    change: { body: ProviderUpdate, wire: toOneProvider },
    section: providerSection,
    handlers: providerHandlers,
  }),
];
