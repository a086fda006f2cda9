import { limitMetrics } from '@relay/contract';
import type { Metric } from '../harness/ask-company.ts';
import { type Company, LANES, type Member, MODELS } from '../harness/company.ts';

export type Subject = 'user' | 'api_key';
export type Target = 'global' | 'provider' | 'model' | 'lane';

export const SUBJECTS: readonly Subject[] = ['user', 'api_key'];
export const TARGETS: readonly Target[] = ['global', 'provider', 'model', 'lane'];
export const METRICS: readonly Metric[] = limitMetrics.filter((metric) => metric !== 'concurrency');

const PATHS: Record<Subject, string> = {
  user: '/api/relay/pro/user-limit-policies',
  api_key: '/api/relay/api-key-limit-policies',
};

/** What each target covers, by the names requests call; the first names are those of the lane itself. */
export const COVERED: Record<Target, readonly string[]> = {
  global: [LANES.first, LANES.second, LANES.elsewhere, MODELS.first],
  provider: [LANES.first, LANES.second, MODELS.second],
  model: [LANES.first, MODELS.first],
  lane: [LANES.first],
};
/** And what it leaves alone. */
export const FREE: Record<Target, readonly string[]> = {
  global: [],
  provider: [LANES.elsewhere],
  model: [LANES.second, LANES.elsewhere],
  lane: [LANES.second, MODELS.first],
};

export interface BudgetSetup {
  readonly subject: Subject;
  readonly target: Target;
  readonly metric: Metric;
  readonly limit: number;
  readonly period?: 'minute' | 'hour' | 'day' | 'month';
}

/** A budget in force, as the list tells of it. */
export interface Budget extends BudgetSetup {
  readonly id: string;
  readonly member: Member;
}

/** Made by the interface alone: upsert, then list to learn the id. */
export async function createBudget(company: Company, member: Member, setup: BudgetSetup): Promise<Budget> {
  await post(company, setup.subject, bodyOf(company, member, setup));
  const known = await listBudgets(company, setup.subject);
  const targetId = targetIdOf(company, setup.target);
  const found = known.find(
    (each) =>
      (each['user_uuid'] ?? each['api_key_uuid']) === subjectIdOf(member, setup.subject) &&
      each['target_type'] === setup.target &&
      each['target_id'] === targetId &&
      each['metric'] === setup.metric,
  );
  if (found === undefined) throw new Error(`a ${setup.subject} budget was made and is not listed`);
  return { ...setup, member, id: String(found['limit_uuid']) };
}

export async function changeBudget(company: Company, budget: Budget, limit: number): Promise<void> {
  const body = { ...bodyOf(company, budget.member, { ...budget, limit }), limit_uuid: budget.id };
  await post(company, budget.subject, body);
}

export async function listBudgets(company: Company, subject: Subject): Promise<Record<string, unknown>[]> {
  const { status, body } = await company.admin.call('GET', PATHS[subject]);
  if (status !== 200) throw new Error(`GET ${PATHS[subject]} answered ${status}: ${JSON.stringify(body)}`);
  return (body as { policies: Record<string, unknown>[] }).policies;
}

export function targetIdOf(company: Company, target: Target): string | null {
  const ids = { provider: company.providerId, model: company.endpointId, lane: company.laneId };
  return target === 'global' ? null : ids[target];
}

async function post(company: Company, subject: Subject, body: object): Promise<void> {
  const answer = await company.admin.call('POST', PATHS[subject], body);
  if (answer.status === 200 && JSON.stringify(answer.body) === '{"ok":true}') return;
  throw new Error(`POST ${PATHS[subject]} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
}

function subjectIdOf({ userId, keys }: Member, subject: Subject): string {
  return subject === 'user' ? userId : keys[0].id;
}

function bodyOf(company: Company, member: Member, setup: BudgetSetup): Record<string, unknown> {
  const { subject, target, metric, limit, period = 'month' } = setup;
  return {
    [subject === 'user' ? 'user_uuid' : 'api_key_uuid']: subjectIdOf(member, subject),
    target_type: target,
    target_id: targetIdOf(company, target),
    metric,
    period,
    limit_value: limit,
    enabled: true,
  };
}
