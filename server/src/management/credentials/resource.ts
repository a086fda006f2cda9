import { CredentialUpdate, credentialResource } from '@relay/contract';
import { defineResource } from '../resources/resource.ts';
import { storedTable } from '../resources/rows.ts';
import { credentialHandlers } from './routes.ts';
import { credentialSection } from './section.ts';
import { toCredential } from './wire.ts';

export const resources = [
  defineResource({
    noun: credentialResource.section.noun,
    table: storedTable('credentials'),
    parents: [{ table: 'providers', column: 'provider_id', governs: 'provider' }],
    change: { body: CredentialUpdate, wire: (_deps, _db, row) => toCredential(row) },
    section: credentialSection,
    handlers: credentialHandlers,
  }),
];
