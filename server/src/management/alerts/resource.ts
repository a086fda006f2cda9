import { AlertDestinationUpdate } from '@relay/contract';
import { defineResource } from '../resources/resource.ts';
import { storedTable } from '../resources/rows.ts';
import { alertListHandlers } from './alert-list.ts';
import { alertDestinationHandlers } from './destination-routes.ts';
import { toDestination } from './wire.ts';

export const resources = [
  defineResource({
    noun: 'alert_destination',
    table: storedTable('alert_destinations'),
    feature: ['alerts', 'listAlerts'],
    change: { body: AlertDestinationUpdate, wire: (_deps, _db, row) => toDestination(row) },
    handlers: (deps, writes) => ({ ...alertDestinationHandlers(deps, writes), ...alertListHandlers(deps) }),
  }),
];
