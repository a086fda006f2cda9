import { TeamUpdate } from '@relay/contract';
import { defineResource } from '../resources/resource.ts';
import { storedTable } from '../resources/rows.ts';
import { teamHandlers } from './routes.ts';
import { toTeam } from './wire.ts';

export const resources = [
  defineResource({
    noun: 'team',
    table: storedTable('teams'),
    feature: ['teams', 'listTeams'],
    change: { body: TeamUpdate, wire: (_deps, _db, row) => toTeam(row) },
    handlers: teamHandlers,
  }),
];
