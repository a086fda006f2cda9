import { type Kysely, type RawBuilder, sql } from 'kysely';
import { codesThatBlame, OF_PROVIDER } from '../../../domain/failures/blame.ts';
import type { Blamed } from '../../../domain/failures/remedies.ts';
import type { Database } from '../../postgres/schema.ts';
import type { RangeQuestion } from './bucket.ts';

/** Failed requests with one cause. What the error code is not about is null. */
export interface FailureGroup {
  /** Empty where none was recorded. */
  readonly error_code: string;
  readonly provider_id: string | null;
  readonly endpoint_id: string | null;
  readonly lane_id: string | null;
  readonly limit_id: string | null;
  readonly guardrail_id: string | null;
  readonly requests: number;
  readonly first_request_id: string;
  readonly last_request_id: string;
}

/** The causes of failed requests, the most frequent first. */
export async function readFailures(
  db: Kysely<Database>,
  question: RangeQuestion,
  limit: number,
): Promise<FailureGroup[]> {
  const { rows } = await failuresQuery(question, limit).execute(db);
  return rows;
}

export function failuresQuery(question: RangeQuestion, limit: number): RawBuilder<FailureGroup> {
  const about = (blamed: Blamed) => sql`error_code = any(${codesThatBlame(blamed)}::text[])`;
  const atEndpoint = sql`(starts_with(error_code, ${OF_PROVIDER}) or ${about('endpoint')})`;
  return sql`
    select error_code,
      case when ${atEndpoint} then provider_id end as provider_id,
      case when ${atEndpoint} then endpoint_id end as endpoint_id,
      case when ${about('lane')} or (${about('limit')} and limit_id is null) then lane_id end as lane_id,
      limit_id, guardrail_id, sum(requests)::bigint as requests,
      min(first_request_id::text) as first_request_id, max(last_request_id::text) as last_request_id
    ${failuresIn(question)}
    group by 1, 2, 3, 4, 5, 6 having sum(requests) > 0
    order by sum(requests) desc, max(last_request_id::text) desc limit ${limit}`;
}

/** The last request that each limit rejected. */
export async function readRejections(
  db: Kysely<Database>,
  question: RangeQuestion,
): Promise<{ readonly limit_id: string; readonly last_request_id: string }[]> {
  const { rows } = await sql<{ limit_id: string; last_request_id: string }>`
    select limit_id, max(last_request_id::text) as last_request_id ${failuresIn(question)}
      and limit_id is not null
    group by 1 having sum(requests) > 0`.execute(db);
  return rows;
}

/** Failed requests by endpoint and error code, and rejected ones by limit. */
export interface EndpointFailures {
  readonly endpoint_id: string | null;
  readonly limit_id: string | null;
  readonly error_code: string;
  readonly requests: number;
}

/** Of those that concern an endpoint: its own failures, and rejections by a limit. */
export async function readEndpointFailures(
  db: Kysely<Database>,
  question: RangeQuestion,
): Promise<EndpointFailures[]> {
  const { rows } = await endpointFailuresQuery(question).execute(db);
  return rows;
}

export function endpointFailuresQuery(question: RangeQuestion): RawBuilder<EndpointFailures> {
  return sql`
    select endpoint_id, limit_id, error_code, sum(requests)::bigint as requests ${failuresIn(question)}
      and (endpoint_id is not null or limit_id is not null)
    group by 1, 2, 3 having sum(requests) > 0`;
}

function failuresIn({ organizationId, userId, range }: RangeQuestion): RawBuilder<unknown> {
  return sql`from failure_rollups
    where organization_id = ${organizationId} and bucket = ${range.bucket}
      and bucket_start >= ${new Date(range.fromMs)} and bucket_start < ${new Date(range.toMs)}
      ${userId === undefined ? sql`` : sql`and user_id = ${userId}`}`;
}
