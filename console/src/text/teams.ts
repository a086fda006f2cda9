import type { Team } from '@relay/contract';
import { counted } from '../format/numbers.ts';
import { keylessText } from './keyless.ts';

/** Teams, the team and labels of keys and members, and showback. */
export const teamsText = {
  description: 'Share limits between members and keys.',
  search: 'Search teams',
  table: 'Teams',
  create: 'Create team',
  empty: 'No teams yet.',
  columns: {
    name: 'Name',
    kind: 'Kind',
    parent: 'Parent team',
    members: 'Members',
    keys: 'Keys',
    budgets: 'Limits',
    actions: 'Actions',
  },
  kinds: { team: 'Team', project: 'Project', cost_center: 'Cost center' } satisfies Record<
    Team['kind'],
    string
  >,
  createTitle: 'Create team',
  editTitle: 'Edit team',
  name: 'Name',
  kind: 'Kind',
  parent: 'Parent team',
  parentHint: 'Its limits also count this team’s requests.',
  noParent: 'None',
  created: (name: string) => `Team ${name} created`,
  saved: (name: string) => `Team ${name} saved`,
  deleted: (name: string) => `Team ${name} deleted`,
  deleteTitle: (name: string) => `Delete team ${name}?`,
  deleteBody:
    'Its limits are deleted. Its members, keys and subteams remain, with no team. Past spend stays assigned to it. You can’t undo this.',
  deleteTeam: 'Delete team',
  budgetCount: (count: number) => counted(count, 'limit'),
  noBudgets: 'None',
  team: 'Team',
  teamOfOwner: 'Owner’s team',
  noTeam: 'None',
  labels: 'Labels',
  labelsHint: 'For reports: name=value, separated by commas, such as app=search, env=prod.',
  labelsInvalid: 'Enter each label as name=value.',
  attribution: 'Team and labels',
  attributionTitle: (name: string) => `Team and labels for ${name}`,
  attributed: (name: string) => `Key ${name} saved`,
  changeTeam: 'Change team',
  changeTeamTitle: (name: string) => `Change ${name}’s team`,
  changeTeamHint: 'Applies to requests from the console and from keys without a team.',
  teamChanged: (name: string) => `${name}’s team changed`,
} as const;

export const showbackText = {
  table: 'Spend',
  by: 'Group by',
  groups: { team: 'Team', key: 'Key', member: 'Member', model: 'Model', label: 'Label' },
  label: 'Label name',
  labelPlaceholder: 'app',
  none: {
    team: 'No team',
    key: keylessText.self_hosted,
    member: 'No member',
    model: 'No model',
    label: 'No label',
  },
  other: 'Other',
  total: 'Total',
  columns: {
    requests: 'Requests',
    input: 'Input tokens',
    output: 'Output tokens',
    spend: 'Spend',
    share: 'Share',
  },
  csv: 'Download CSV',
  focus: 'Download FOCUS CSV',
  empty: 'No requests in this time range.',
  notAnInvoice: 'Spend is calculated from your configured prices; it is not an invoice.',
} as const;
