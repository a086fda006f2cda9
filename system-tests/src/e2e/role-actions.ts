import type { RouteId } from '@relay/contract';

/** A control to press, by its accessible name, or a field to fill, by its label and value. `{me}` stands for the caller. */
export type Step = string | readonly [label: string, value: string];

/** One thing that the console offers to callers who may call its route. */
export interface RoleAction {
  readonly route: RouteId;
  /** The page, as the navigation names it. */
  readonly page: string;
  /** What is pressed and filled. The last control sends the request. */
  readonly steps: readonly Step[];
  /** The last control is not pressed: it ends the session, or calls a service that is not there. */
  readonly isOnlySeen?: true;
  /** The row that the first control is in, where rows don't name theirs. */
  readonly row?: string;
  /** Offered to these callers alone: `people` have a password and can leave, `owners` manage owners. */
  readonly only?: 'people' | 'owners';
}

const FILE = '{ "version": 1, "lanes": [{ "slug": "{me}-file", "name": "{me} file" }] }';

/** Every write that has a place in the console, and how to reach it. Resources named after the caller were seeded. */
export const roleActions: readonly RoleAction[] = [
  {
    route: 'createChatCompletion',
    page: 'Playground',
    steps: [['Message', 'Hello'], 'Send request'],
  },
  { route: 'createLane', page: 'Lanes', steps: ['Create lane', ['Name', '{me} new lane'], 'Create lane'] },
  { route: 'updateLane', page: 'Lanes', steps: ['More actions: {me} lane', 'Disable'] },
  { route: 'deleteLane', page: 'Lanes', steps: ['More actions: {me} lane', 'Delete', 'Delete lane'] },
  {
    route: 'createEndpoint',
    page: 'Endpoints',
    steps: [
      'Add endpoint',
      ['Provider', 'Assistant 1'],
      ['Upstream model', 'new-model-{me}'],
      ['Name', '{me} new endpoint'],
      'Add endpoint',
    ],
  },
  {
    route: 'createPricingPolicy',
    page: 'Endpoints',
    steps: ['{me} endpoint', 'Set price', ['Input*', '1'], ['Output*', '2'], 'Save changes'],
  },
  {
    route: 'updatePricingPolicy',
    page: 'Endpoints',
    steps: ['{me} endpoint', 'Edit price', ['Input*', '3'], 'Save changes'],
  },
  {
    route: 'deletePricingPolicy',
    page: 'Endpoints',
    steps: ['{me} endpoint', 'Edit price', 'Remove price'],
  },
  { route: 'testEndpoint', page: 'Endpoints', steps: ['{me} endpoint', 'Test connection'] },
  { route: 'updateEndpoint', page: 'Endpoints', steps: ['{me} endpoint', 'More actions', 'Disable'] },
  {
    route: 'deleteEndpoint',
    page: 'Endpoints',
    steps: ['{me} endpoint', 'More actions', 'Delete', 'Delete endpoint'],
  },
  { route: 'applyPrices', page: 'Endpoints', steps: ['Import prices'], isOnlySeen: true },
  {
    route: 'createProvider',
    page: 'Providers',
    steps: [
      'Add provider',
      'Other*',
      ['Name', '{me} new provider'],
      ['Base URL', 'https://api.example.com/v1'],
      'Add provider',
    ],
  },
  {
    route: 'createCredential',
    page: 'Providers',
    steps: ['{me} new provider', 'Set credential', ['Provider API key', 'sk-{me}'], 'Save changes'],
  },
  {
    route: 'updateCredential',
    page: 'Providers',
    steps: ['{me} new provider', 'Replace credential', ['Provider API key', 'sk-other-{me}'], 'Save changes'],
  },
  { route: 'testProvider', page: 'Providers', steps: ['{me} provider', 'Test connection'] },
  { route: 'updateProvider', page: 'Providers', steps: ['{me} provider', 'More actions', 'Disable'] },
  {
    route: 'deleteProvider',
    page: 'Providers',
    steps: ['{me} provider', 'More actions', 'Delete', 'Delete provider'],
  },
  {
    route: 'createLimitPolicy',
    page: 'Limits',
    steps: [
      'Create limit',
      ['Kind', 'Shared limit'],
      ['Applies to', 'Lane'],
      ['Lane', '{me} new lane'],
      ['Limit*', '100000'],
      'Create limit',
    ],
  },
  {
    route: 'upsertUserLimitPolicy',
    page: 'Limits',
    steps: [
      'Create limit',
      ['Kind', 'Member limit'],
      ['Member', '{me} spare*'],
      ['Limit*', '9000'],
      'Create limit',
    ],
  },
  {
    route: 'upsertTeamLimitPolicy',
    page: 'Limits',
    steps: [
      'Create limit',
      ['Kind', 'Team limit'],
      ['Team', '{me} team'],
      ['Limit*', '9000'],
      'Create limit',
    ],
  },
  {
    route: 'upsertApiKeyLimitPolicy',
    page: 'Limits',
    steps: [
      'Create limit',
      ['Kind', 'Key limit'],
      ['Key', '{me} seeded key*'],
      ['Limit*', '9000'],
      'Create limit',
    ],
  },
  {
    route: 'createApiKey',
    page: 'API keys',
    steps: ['Create key', ['Name', '{me} new key'], 'Create key'],
  },
  {
    route: 'renameApiKey',
    page: 'API keys',
    steps: ['More actions: {me} new key', 'Rename', ['Name', '{me} own key'], 'Save changes'],
  },
  {
    route: 'revokeApiKey',
    page: 'API keys',
    steps: ['More actions: {me} own key', 'Revoke', 'Revoke key'],
  },
  {
    route: 'createOrgApiKey',
    page: 'API keys',
    steps: ['Create key', ['Owner', '{me} spare*'], ['Name', '{me} key of another'], 'Create key'],
  },
  {
    route: 'updateOrgApiKey',
    page: 'API keys',
    steps: ['More actions: {me} seeded key', 'Team and labels', ['Labels*', 'app={me}'], 'Save changes'],
  },
  {
    route: 'revokeOrgApiKey',
    page: 'API keys',
    steps: ['More actions: {me} seeded key', 'Revoke', 'Revoke key'],
  },
  {
    route: 'createGuardrail',
    page: 'Guardrails',
    steps: [
      'Add guardrail',
      'Other service*',
      ['Name', '{me} new guardrail'],
      ['URL', 'https://guard.example.com/check'],
      'Add guardrail',
    ],
  },
  {
    route: 'replaceGuardrailBindings',
    page: 'Guardrails',
    steps: ['{me} guardrail', 'Edit bindings', ['All requests', ''], 'Save bindings'],
  },
  {
    route: 'testGuardrail',
    page: 'Guardrails',
    steps: ['{me} guardrail', ['Sample text', 'Hello'], 'Run test'],
    isOnlySeen: true,
  },
  {
    route: 'updateGuardrail',
    page: 'Guardrails',
    steps: ['{me} guardrail', 'More actions', 'Edit', ['Name', '{me} guardrail'], 'Save changes'],
  },
  {
    route: 'deleteGuardrail',
    page: 'Guardrails',
    steps: ['{me} guardrail', 'More actions', 'Delete', 'Delete guardrail'],
  },
  { route: 'createTeam', page: 'Teams', steps: ['Create team', ['Name', '{me} new team'], 'Create team'] },
  {
    route: 'updateTeam',
    page: 'Teams',
    steps: ['More actions: {me} team', 'Edit', ['Kind', 'Project'], 'Save changes'],
  },
  { route: 'deleteTeam', page: 'Teams', steps: ['More actions: {me} team', 'Delete', 'Delete team'] },
  {
    route: 'createAlertDestination',
    page: 'Alerts',
    steps: [
      'Add destination',
      ['Name', '{me} new pager'],
      ['URL', 'https://alerts.example.com/relay'],
      'Add destination',
    ],
  },
  {
    route: 'testAlertDestination',
    page: 'Alerts',
    row: '{me} pager',
    steps: ['Send test alert'],
    isOnlySeen: true,
  },
  {
    route: 'updateAlertDestination',
    page: 'Alerts',
    row: '{me} pager',
    steps: ['More actions', 'Disable'],
  },
  {
    route: 'deleteAlertDestination',
    page: 'Alerts',
    row: '{me} pager',
    steps: ['More actions', 'Delete', 'Delete destination'],
  },
  {
    route: 'createInvitation',
    page: 'Members',
    steps: ['Invite member', ['Email', '{me}-new@example.com'], 'Create invitation'],
  },
  {
    route: 'deleteInvitation',
    page: 'Members',
    steps: ['Withdraw: {me}-guest@example.com', 'Withdraw invitation'],
  },
  {
    route: 'updateMember',
    page: 'Members',
    steps: ['More actions: {me} spare', 'Change role', ['Viewer*', ''], 'Save changes'],
  },
  {
    route: 'updateMember',
    page: 'Members',
    steps: ['More actions: Other owner', 'Suspend', 'Suspend member'],
    only: 'owners',
    isOnlySeen: true,
  },
  {
    route: 'removeMember',
    page: 'Members',
    steps: ['More actions: {me} spare', 'Remove', 'Remove member'],
  },
  {
    route: 'leaveOrganization',
    page: 'Members',
    steps: ['More actions: {me}', 'Leave', 'Leave organization'],
    only: 'people',
    isOnlySeen: true,
  },
  {
    route: 'applyConfig',
    page: 'Configuration',
    steps: ['Compare and apply', ['Configuration file', FILE], 'Show plan', 'Apply file…', 'Apply file'],
  },
  {
    route: 'planConfig',
    page: 'Configuration',
    steps: ['Compare and apply', ['Configuration file', '{ "version": 1 }'], 'Show plan'],
  },
  { route: 'updateAccount', page: 'Settings', steps: [['Name', '{me} renamed'], 'Save changes'] },
  { route: 'changeEmail', page: 'Settings', steps: ['Change email'], only: 'people', isOnlySeen: true },
  { route: 'updatePreferences', page: 'Settings', steps: ['Preferences', 'Product news by email*'] },
  {
    route: 'changePassword',
    page: 'Settings',
    steps: [
      'Security',
      ['Current password', 'correct horse battery staple'],
      ['New password', 'another horse, another staple'],
      'Change password',
    ],
    only: 'people',
  },
  {
    route: 'startTotp',
    page: 'Settings',
    steps: ['Security', 'Set up two-factor', ['Your password', 'another horse, another staple'], 'Continue'],
    only: 'people',
  },
  {
    route: 'updateOrg',
    page: 'Settings',
    steps: ['Organization', ['Organization name', 'Named by {me}'], 'Save changes'],
  },
];
