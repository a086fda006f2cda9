import { limitMetrics } from '@relay/contract';
import { useState } from 'react';
import { dollarsOf, microsOf } from '../../forms/dollars.ts';
import { NumberField, SelectField } from '../../forms/fields.tsx';
import type { useContractForm } from '../../forms/use-contract-form.ts';
import { metricLooks } from '../../parts/limit-metrics.ts';
import { text } from '../../text/index.ts';
import { Field, Input } from '../../ui/field.tsx';
import { type LimitValues, limitKinds } from './limit-kinds.ts';
import type { LimitKind, LimitScope } from './limit-row.ts';
import type { LimitPlaces } from './use-limit-places.ts';

const words = text.limits.form;

interface FieldsProps {
  readonly form: ReturnType<typeof useContractForm<LimitValues>>;
  readonly kind: LimitKind;
  readonly places: LimitPlaces;
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

/** The owner of the limit. */
export function SubjectField({
  form,
  subject,
  places,
}: FieldsProps & { readonly subject: 'user_uuid' | 'api_key_uuid' }) {
  const isUser = subject === 'user_uuid';
  const choices: readonly Choice[] = isUser
    ? places.members.map(({ id, name, email }) => ({ id, name: email === '' ? name : `${name} (${email})` }))
    : places.keys
        .filter(({ status }) => status === 'active')
        .map(({ id, name, key_prefix: prefix }) => ({ id, name: `${name} (${prefix}…)` }));
  return (
    <SelectField form={form} name={subject} label={isUser ? words.user : words.api_key}>
      <option value="">{words.choose}</option>
      <Options of={choices} />
    </SelectField>
  );
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
export function AmountField(props: FieldsProps) {
  const metric = props.form.watch('metric');
  if (metricLooks[metric].money) return <DollarsField {...props} />;
  const unit = text.limits.chart.units[metric];
  return <NumberField form={props.form} name="limit_value" label={words.value} unit={unit} />;
}

/** What a spend limit does about endpoints that have no price. */
export function UnpricedField({ form }: FieldsProps) {
  if (!metricLooks[form.watch('metric')].money) return null;
  return (
    <SelectField form={form} name="unpriced" label={words.unpriced} hint={words.unpricedHint}>
      <Options of={Object.entries(words.unpricedRules).map(([id, name]) => ({ id, name }))} />
    </SelectField>
  );
}

function DollarsField({ form }: FieldsProps) {
  const stored = form.getValues('limit_value');
  const [typed, setTyped] = useState(() => dollarsOf(typeof stored === 'number' ? stored : null));
  const error = form.getFieldState('limit_value', form.formState).error?.message;
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
          value={typed}
          onChange={(event) => change(event.target.value)}
        />
      )}
    </Field>
  );
}
