import { alertsText } from './alerts.ts';
import { auditText } from './audit.ts';
import { billingText } from './billing.ts';
import { chartsText } from './charts.ts';
import { configurationText } from './configuration.ts';
import { deletedLimitsText } from './deleted-limits.ts';
import { diffText } from './diff.ts';
import { endpointsText } from './endpoints.ts';
import { failuresText } from './failures.ts';
import { fieldsText } from './fields.ts';
import { guardrailsText } from './guardrails.ts';
import { homeText } from './home.ts';
import { keylessText } from './keyless.ts';
import { keysText } from './keys.ts';
import { lanesText } from './lanes.ts';
import { limitsText } from './limits.ts';
import { liveText } from './live.ts';
import { membersText } from './members.ts';
import { nameChangesText } from './name-changes.ts';
import { playgroundText } from './playground.ts';
import { priceImportText } from './price-import.ts';
import { providersText } from './providers.ts';
import { requestsText } from './requests.ts';
import { settingsText } from './settings.ts';
import { shellText } from './shell.ts';
import { spendPagesText } from './spend-pages.ts';
import { showbackText, teamsText } from './teams.ts';
import { unpricedText } from './unpriced.ts';
import { usageText } from './usage.ts';
import { whatIfText } from './what-if.ts';

/** Every word that the console shows, by page. Pages hold no words of their own. */
export const text = {
  ...shellText,
  charts: chartsText,
  keyless: keylessText,
  unpriced: unpricedText,
  home: homeText,
  usage: usageText,
  providers: providersText,
  endpoints: endpointsText,
  priceImport: priceImportText,
  lanes: lanesText,
  playground: playgroundText,
  keys: keysText,
  guardrails: guardrailsText,
  failures: failuresText,
  requests: requestsText,
  members: membersText,
  settings: settingsText,
  limits: limitsText,
  teams: teamsText,
  showback: showbackText,
  spendPages: spendPagesText,
  live: liveText,
  alerts: alertsText,
  audit: auditText,
  billing: billingText,
  configuration: configurationText,
  diff: diffText,
  nameChanges: nameChangesText,
  deletedLimits: deletedLimitsText,
  fields: fieldsText,
  whatIf: whatIfText,
} as const;
