import Type from 'typebox';
import {
  Guardrail,
  GuardrailBinding,
  GuardrailBindingsUpdate,
  GuardrailCreate,
  GuardrailDetail,
  GuardrailPreset,
  GuardrailTest,
  GuardrailTestResult,
  GuardrailUpdate,
} from '../resources/guardrail.ts';
import { noContent, type RouteTable } from '../route-definition.ts';
import { PageQuery, params } from '../schema.ts';

const shared = { plane: 'management', tag: 'Guardrails' } as const;
const changeErrors = ['conflict', 'managed_by_file', 'version_conflict'] as const;

export const guardrailRoutes = {
  listGuardrails: {
    ...shared,
    method: 'GET',
    path: '/api/relay/guardrails',
    summary: 'List guardrails',
    query: PageQuery,
    success: { status: 200, schema: Type.Array(Guardrail) },
  },
  createGuardrail: {
    ...shared,
    method: 'POST',
    path: '/api/relay/guardrails',
    summary: 'Create a guardrail, disabled',
    body: GuardrailCreate,
    success: { status: 201, schema: Guardrail },
    errors: ['conflict', 'idempotency_conflict'],
  },
  getGuardrail: {
    ...shared,
    method: 'GET',
    path: '/api/relay/guardrails/{guardrail_id}',
    summary: 'Read a guardrail and its bindings',
    params: params('guardrail_id'),
    success: { status: 200, schema: GuardrailDetail },
  },
  updateGuardrail: {
    ...shared,
    method: 'PUT',
    path: '/api/relay/guardrails/{guardrail_id}',
    summary: 'Change a guardrail',
    params: params('guardrail_id'),
    body: GuardrailUpdate,
    success: { status: 200, schema: Guardrail },
    errors: changeErrors,
  },
  deleteGuardrail: {
    ...shared,
    method: 'DELETE',
    path: '/api/relay/guardrails/{guardrail_id}',
    summary: 'Delete a guardrail and its bindings',
    params: params('guardrail_id'),
    success: noContent,
    errors: changeErrors,
  },
  listGuardrailBindings: {
    ...shared,
    method: 'GET',
    path: '/api/relay/guardrails/{guardrail_id}/bindings',
    summary: 'List the bindings of a guardrail',
    params: params('guardrail_id'),
    query: PageQuery,
    success: { status: 200, schema: Type.Array(GuardrailBinding) },
  },
  replaceGuardrailBindings: {
    ...shared,
    method: 'PUT',
    path: '/api/relay/guardrails/{guardrail_id}/bindings',
    summary: 'Replace the bindings of a guardrail',
    params: params('guardrail_id'),
    body: GuardrailBindingsUpdate,
    success: { status: 200, schema: Type.Array(GuardrailBinding) },
    errors: changeErrors,
  },
  testGuardrail: {
    ...shared,
    method: 'POST',
    path: '/api/relay/guardrails/{guardrail_id}/test',
    summary: 'Ask the guardrail about a text and show its verdict',
    params: params('guardrail_id'),
    body: GuardrailTest,
    success: { status: 200, schema: GuardrailTestResult },
  },
  listGuardrailPresets: {
    ...shared,
    method: 'GET',
    path: '/api/relay/guardrail-presets',
    summary: 'List guardrail presets',
    query: PageQuery,
    success: { status: 200, schema: Type.Array(GuardrailPreset) },
  },
} as const satisfies RouteTable;
