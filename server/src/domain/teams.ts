import type { Labels } from '@relay/contract';
import type { Caller } from './caller.ts';
import type { OrganizationSnapshot } from './snapshot.ts';

/** The part of a caller that decides its team. */
export type TeamedCaller = Pick<Caller, 'userId' | 'keyTeamId'>;

/**
 * The team of a caller's requests, then that team's parent, if there are any. A key without a team, or with one that was deleted, is
 * in its owner's.
 */
export function teamsOf(
  { teams, members }: Pick<OrganizationSnapshot, 'teams' | 'members'>,
  { userId, keyTeamId }: TeamedCaller,
): readonly string[] {
  if (teams.size === 0) return NONE;
  const team = teams.get(keyTeamId ?? '') ?? teams.get(members.get(userId)?.teamId ?? '');
  if (team === undefined) return NONE;
  return team.parentId === null ? [team.id] : [team.id, team.parentId];
}

/** What a request is counted for besides its user and key, as its ledger row says it. */
export interface Attribution {
  readonly teamId?: string;
  readonly parentTeamId?: string;
  readonly labels?: Labels;
}

export function attributionOf(
  snapshot: Pick<OrganizationSnapshot, 'teams' | 'members'>,
  caller: TeamedCaller & Pick<Caller, 'labels'>,
): Attribution {
  const [teamId, parentTeamId] = teamsOf(snapshot, caller);
  const { labels } = caller;
  return {
    ...(teamId !== undefined && { teamId }),
    ...(parentTeamId !== undefined && { parentTeamId }),
    ...(labels !== undefined && { labels }),
  };
}

const NONE: readonly string[] = [];
