import type { AuditEntry } from '@relay/contract';
import { isObject, keysOf, oneOf } from '../../format/values.ts';
import { fieldName, fieldValue } from '../../parts/field-words.ts';
import { metricLooks, ruleOf } from '../../parts/limit-metrics.ts';
import { text } from '../../text/index.ts';
import { type FieldChange, fieldChanges, isSecretField, plainValue } from '../../ui/field-changes.ts';

const words = text.audit;

type Fields = Readonly<Record<string, unknown>>;

/** "Changed lane", "Signed in"; an unknown action is shown as in the log. */
export function actionWords(action: string, targetType: string): string {
  const whole: Readonly<Record<string, string>> = words.whole;
  const verbs: Readonly<Record<string, string>> = words.verbs;
  const types: Readonly<Record<string, string>> = words.types;
  const known = whole[action];
  if (known !== undefined) return known;
  const verb = verbs[action.slice(action.lastIndexOf('.') + 1)];
  const type = types[targetType];
  return verb === undefined || type === undefined ? action : `${verb} ${type}`;
}

export function kindOf({ before, after }: AuditEntry): 'create' | 'update' | 'delete' {
  if (before === null) return 'create';
  return after === null ? 'delete' : 'update';
}

/** Only people and keys have a name: the admin token has that of the first owner, who may be another person. */
export function actorName({ type, name }: AuditEntry['actor']): string {
  return type === 'user' || type === 'api_key' ? (name ?? words.deleted[type]) : words.through[type];
}

/** The object's name, from its newest state in the entry. */
export function objectName(entry: AuditEntry, nameOf: (id: string) => string | undefined): string | null {
  const fields = fieldsOf(entry);
  const named = (field: string) => {
    const id = textOf(fields, field);
    return id === undefined ? undefined : nameOf(id);
  };
  switch (entry.target_type) {
    case 'session':
    case 'user':
      return null;
    case 'lane_membership':
      return (
        [named('lane_id'), named('endpoint_id')].filter((name) => name !== undefined).join(' › ') || null
      );
    case 'pricing_policy':
      return named('endpoint_id') ?? null;
    case 'credential': {
      const name = textOf(fields, 'name') ?? '';
      const provider = named('provider_id');
      return provider === undefined ? name : `${provider} › ${name}`;
    }
    case 'limit_policy':
    case 'user_limit_policy':
    case 'api_key_limit_policy':
    case 'team_limit_policy':
      return limitName(fields, [
        named('api_key_id') ?? named('user_id') ?? named('team_id'),
        named('scope_id') ?? named('target_id'),
      ]);
    default:
      return (
        textOf(fields, 'name') ??
        textOf(fields, 'email') ??
        (entry.target_id === null ? undefined : nameOf(entry.target_id)) ??
        null
      );
  }
}

/** What a limit applies to and what it allows: "Nightly batch › $50.00 per month". */
function limitName(fields: Fields, places: readonly (string | undefined)[]): string | null {
  const metric = oneOf(keysOf(metricLooks), textOf(fields, 'metric') ?? '');
  const period = oneOf(keysOf(text.limits.periods), textOf(fields, 'period') ?? '');
  const limit = fields['limit_value'];
  const rule =
    metric === undefined || period === undefined || typeof limit !== 'number'
      ? undefined
      : ruleOf({ metric, period, limit });
  return [...places, rule].filter((part) => part !== undefined).join(' › ') || null;
}

type NameOf = (id: string) => string | undefined;

/** What changed, field by field, in the words and units of the forms. */
export function changesOf(entry: AuditEntry, nameOf: NameOf): readonly FieldChange[] {
  const { before, after, target_type: type } = entry;
  const value = (field: string, state: unknown, of: unknown) =>
    of === null || of === '' ? null : fieldValue(field, of, { state, nameOf });
  return fieldChanges(before, after).map((change) => {
    const { field } = change;
    const label = fieldName(field, type);
    if (isReplacement(entry, field)) return { field, label, before: undefined, after: text.fields.replaced };
    // An unknown field keeps the values of the API.
    return label === field
      ? change
      : {
          field,
          label,
          before: value(field, before, change.before),
          after: value(field, after, change.after),
        };
  });
}

/** A replaced secret shows as a new version. */
function isReplacement(entry: AuditEntry, field: string): boolean {
  return field === 'secret_version' && kindOf(entry) === 'update';
}

/** Each change of an update in a few words: "Wait budget 300 ms → 5 s". */
export function changeLines(entry: AuditEntry, nameOf: NameOf): readonly string[] {
  if (kindOf(entry) !== 'update') return [];
  const shown = (value: unknown) => (value === null || value === '' ? text.fields.none : plainValue(value));
  return changesOf(entry, nameOf)
    .filter(({ field }) => !isSecretField(field))
    .map(({ field, label, before, after }) =>
      isReplacement(entry, field)
        ? text.fields.credentialReplaced
        : words.change(label ?? field, shown(before), shown(after)),
    );
}

/** The same as the API has it. */
export function rawChangeLines({ before, after }: AuditEntry): readonly string[] {
  return fieldChanges(before, after)
    .filter(({ field }) => !isSecretField(field))
    .map((change) => words.change(change.field, plainValue(change.before), plainValue(change.after)));
}

export interface ObjectPlace {
  /** The path in the page table. */
  readonly page: string;
  readonly path: string;
  readonly open?: string;
}

/** The page that shows the object or its parent; null if it is deleted or has no page. */
export function objectPlace(entry: AuditEntry): ObjectPlace | null {
  const { target_type: type, target_id: id } = entry;
  if (kindOf(entry) === 'delete' && entry.before !== null) return null;
  const fields = fieldsOf(entry);
  const at = (page: string, open: string | null | undefined) =>
    typeof open === 'string' ? { page, path: page, open } : { page, path: page };
  const below = (page: string, of: string | null | undefined) =>
    typeof of === 'string' ? { page, path: `${page}/${of}` } : null;
  switch (type) {
    case 'lane':
      return below('/lanes', id);
    case 'lane_membership':
      return below('/lanes', textOf(fields, 'lane_id'));
    case 'provider':
      return at('/providers', id);
    case 'credential':
      return at('/providers', textOf(fields, 'provider_id'));
    case 'endpoint':
      return at('/endpoints', id);
    case 'pricing_policy':
      return at('/endpoints', textOf(fields, 'endpoint_id'));
    case 'guardrail':
      return below('/guardrails', id);
    case 'guardrail_binding':
      return below('/guardrails', textOf(fields, 'guardrail_id'));
    case 'limit_policy':
    case 'user_limit_policy':
    case 'api_key_limit_policy':
    case 'team_limit_policy':
      return at('/limits', id);
    case 'team':
      return { page: '/teams', path: '/teams' };
    case 'alert_destination':
      return { page: '/alerts', path: '/alerts' };
    case 'api_key':
      return at('/keys', id);
    case 'member':
    case 'invitation':
      return { page: '/members', path: '/members' };
    default:
      return null;
  }
}

/** The IP address of a sign-in. */
export function addressOf(entry: AuditEntry): string | undefined {
  return textOf(fieldsOf(entry), 'ip_address');
}

function fieldsOf({ before, after }: AuditEntry): Fields {
  const state = after ?? before;
  return isObject(state) ? state : {};
}

function textOf(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
