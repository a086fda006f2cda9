import { limitMetrics } from '@relay/contract';
import { microsOf } from '@relay/contract/words';
import { useState } from 'react';
import { dollarsOf } from '../../forms/dollars.ts';
import { errorOf, NumberField, SelectField } from '../../forms/fields.tsx';
import type { useContractForm } from '../../forms/use-contract-form.ts';
import { metricLooks } from '../../parts/limit-metrics.ts';
import { text } from '../../text/index.ts';
import { Field, Input } from '../../ui/field.tsx';
import { type LimitValues, limitKinds } from './limit-kinds.ts';
import type { LimitKind, LimitScope } from './limit-row.ts';
import type { LimitPlaces } from './use-limit-places.ts';

const words = text.limits.form;

export interface FieldsProps {
  readonly form: ReturnType<typeof useContractForm<LimitValues>>;
  readonly kind: LimitKind;
  readonly places: LimitPlaces;
}

interface FocusProps {
  /** Whether the dialog opens with the focus here: an edit is mostly of the value. */
  readonly autoFocus: boolean;
}

interface Choice {
  readonly id: string;
  readonly name: string;
}

function Options({ of }: { readonly of: readonly Choice[] }) {
  return of.map(({ id, name }) => (
    <option key={id} value={id}>
      {name}
    </option>
  ));
}

type Subject = 'user_uuid' | 'api_key_uuid' | 'team_uuid';

/** The owner of the limit. */
export function SubjectField({ form, subject, places }: FieldsProps & { readonly subject: Subject }) {
  return (
    <SelectField form={form} name={subject} label={words.subjects[subject]}>
      <option value="">{words.choose}</option>
      <Options of={subjectsIn(subject, places)} />
    </SelectField>
  );
}

function subjectsIn(subject: Subject, { members, keys, teams }: LimitPlaces): readonly Choice[] {
  if (subject === 'team_uuid') return teams;
  if (subject === 'user_uuid')
    return members.map(({ id, name, email }) => ({ id, name: email === '' ? name : `${name} (${email})` }));
  return keys
    .filter(({ status }) => status === 'active')
    .map(({ id, name, key_prefix: prefix }) => ({ id, name: `${name} (${prefix}…)` }));
}

/** What the limit applies to: everything or one resource. */
export function ScopeFields({ form, kind, places }: FieldsProps) {
  const { scope, scopeId, scopes } = limitKinds[kind];
  const chosen = form.watch(scope) ?? 'global';
  return (
    <div className="grid gap-5 sm:grid-cols-2">
      <SelectField
        form={form}
        name={scope}
        label={words.scope}
        onChosen={() => form.setValue(scopeId, null, { shouldDirty: true })}
      >
        <Options of={scopes.map((each) => ({ id: each, name: text.limits.scopes[each] }))} />
      </SelectField>
      {chosen === 'global' ? null : (
        <SelectField key={chosen} form={form} name={scopeId} label={words.target[chosen]} nullable>
          <option value="">{words.choose}</option>
          <Options of={choicesOf(chosen, places)} />
        </SelectField>
      )}
    </div>
  );
}

function choicesOf(scope: Exclude<LimitScope, 'global'>, places: LimitPlaces): readonly Choice[] {
  if (scope === 'lane') return places.lanes;
  if (scope === 'provider') return places.providers;
  if (scope === 'endpoint' || scope === 'model') return places.endpoints;
  return places.credentials.map(({ id }) => ({ id, name: places.names.scope({ scope, scopeId: id }) }));
}

/** The metric and the window. */
export function MetricFields({ form }: FieldsProps) {
  const metric = form.watch('metric');
  const onMetric = (next: string) => {
    // A value in dollars means nothing for another metric.
    form.setValue('limit_value', undefined);
    if (isHeld(next)) form.setValue('period', 'none');
    else if (form.getValues('period') === 'none') form.setValue('period', 'minute');
    if (!isEstimated(next)) form.setValue('enforcement', 'estimate');
  };
  return (
    <div className="grid gap-5 sm:grid-cols-2">
      <SelectField form={form} name="metric" label={words.metric} onChosen={onMetric}>
        <Options of={Object.entries(text.limits.metricNames).map(([id, name]) => ({ id, name }))} />
      </SelectField>
      {metricLooks[metric].held ? null : (
        <SelectField form={form} name="period" label={words.period}>
          <Options of={Object.entries(text.limits.periodNames).map(([id, name]) => ({ id, name }))} />
        </SelectField>
      )}
    </div>
  );
}

function isHeld(metric: string): boolean {
  const known = limitMetrics.find((each) => each === metric);
  return known !== undefined && metricLooks[known].held;
}

/** The limit's value. Spend is typed in dollars and stored in whole micro-dollars. */
export function AmountField(props: FieldsProps & FocusProps) {
  const metric = props.form.watch('metric');
  if (metricLooks[metric].money) return <DollarsField {...props} />;
  const unit = text.limits.chart.units[metric];
  return (
    <NumberField
      form={props.form}
      name="limit_value"
      label={words.value}
      unit={unit}
      autoFocus={props.autoFocus}
    />
  );
}

/** Limits on requests and concurrency are always exact. */
function isEstimated(metric: string): boolean {
  return metric === 'tokens' || metric === 'spend';
}

/** Whether usage can pass the limit. */
export function EnforcementField({ form }: FieldsProps) {
  if (!isEstimated(form.watch('metric'))) return null;
  const onChosen = (next: string) => {
    if (next === 'hard') form.setValue('unpriced', 'refuse');
  };
  return (
    <SelectField
      form={form}
      name="enforcement"
      label={words.enforcement}
      hint={words.enforcementHint}
      onChosen={onChosen}
    >
      <Options of={Object.entries(words.enforcements).map(([id, name]) => ({ id, name }))} />
    </SelectField>
  );
}

/** What a spend limit does about endpoints that have no price. A hard limit never lets them pass. */
export function UnpricedField({ form }: FieldsProps) {
  if (!metricLooks[form.watch('metric')].money || form.watch('enforcement') === 'hard') return null;
  return (
    <SelectField form={form} name="unpriced" label={words.unpriced} hint={words.unpricedHint}>
      <Options of={Object.entries(words.unpricedRules).map(([id, name]) => ({ id, name }))} />
    </SelectField>
  );
}

function DollarsField({ form, autoFocus }: FieldsProps & FocusProps) {
  const stored = form.getValues('limit_value');
  const [typed, setTyped] = useState(() => dollarsOf(typeof stored === 'number' ? stored : null));
  const error = errorOf(form, 'limit_value');
  const change = (next: string) => {
    setTyped(next);
    form.setValue('limit_value', microsOf(next), { shouldValidate: form.formState.isSubmitted });
  };
  return (
    <Field
      label={words.value}
      optional={words.dollars}
      error={error === undefined ? undefined : typed === '' ? error : words.invalidMoney}
    >
      {(control) => (
        <Input
          {...control}
          inputMode="decimal"
          autoComplete="off"
          autoFocus={autoFocus}
          value={typed}
          onChange={(event) => change(event.target.value)}
        />
      )}
    </Field>
  );
}
