import Type from 'typebox';
import { ApiKey, ApiKeyCreated, OrgApiKeyCreate } from '../resources/account.ts';
import { AuditPage, AuditQuery } from '../resources/deployment.ts';
import {
  Invitation,
  InvitationCreate,
  InvitationCreated,
  Member,
  MemberUpdate,
} from '../resources/organization.ts';
import { noContent, type RouteTable } from '../route-definition.ts';
import { PageQuery, params } from '../schema.ts';

const shared = { plane: 'management', tag: 'Organization' } as const;

export const organizationRoutes = {
  listMembers: {
    ...shared,
    method: 'GET',
    path: '/api/org/members',
    access: { scope: 'cloud:members:read' },
    summary: 'List the members of the organization',
    query: PageQuery,
    success: { status: 200, schema: Type.Array(Member) },
  },
  updateMember: {
    ...shared,
    method: 'PATCH',
    path: '/api/org/members/{user_id}',
    access: { scope: 'cloud:members:manage' },
    summary: 'Change a member’s role or status',
    params: params('user_id'),
    body: MemberUpdate,
    success: { status: 200, schema: Member },
    errors: ['accounts_disabled', 'conflict', 'version_conflict'],
  },
  removeMember: {
    ...shared,
    method: 'DELETE',
    path: '/api/org/members/{user_id}',
    access: { scope: 'cloud:members:manage' },
    summary: 'Remove a member',
    params: params('user_id'),
    success: noContent,
    errors: ['accounts_disabled', 'conflict', 'version_conflict'],
  },
  listInvitations: {
    ...shared,
    method: 'GET',
    path: '/api/org/invitations',
    access: { scope: 'cloud:members:read' },
    summary: 'List open invitations',
    query: PageQuery,
    success: { status: 200, schema: Type.Array(Invitation) },
  },
  createInvitation: {
    ...shared,
    method: 'POST',
    path: '/api/org/invitations',
    access: { scope: 'cloud:members:manage' },
    summary: 'Invite a member',
    body: InvitationCreate,
    success: { status: 201, schema: InvitationCreated },
    errors: ['accounts_disabled', 'conflict', 'idempotency_conflict'],
  },
  deleteInvitation: {
    ...shared,
    method: 'DELETE',
    path: '/api/org/invitations/{invitation_id}',
    access: { scope: 'cloud:members:manage' },
    summary: 'Withdraw an invitation',
    params: params('invitation_id'),
    success: noContent,
    errors: ['accounts_disabled', 'version_conflict'],
  },
  listOrgApiKeys: {
    ...shared,
    method: 'GET',
    path: '/api/org/api-keys',
    access: { scope: 'cloud:security:manage' },
    summary: 'List every key of the organization',
    query: PageQuery,
    success: { status: 200, schema: Type.Array(ApiKey) },
  },
  createOrgApiKey: {
    ...shared,
    method: 'POST',
    path: '/api/org/api-keys',
    access: { scope: 'cloud:members:manage' },
    summary: 'Create a key for another member',
    body: OrgApiKeyCreate,
    success: { status: 201, schema: ApiKeyCreated },
    errors: ['accounts_disabled', 'idempotency_conflict'],
  },
  revokeOrgApiKey: {
    ...shared,
    method: 'DELETE',
    path: '/api/org/api-keys/{api_key_id}',
    access: { scope: 'cloud:security:manage' },
    summary: 'Revoke any key of the organization',
    params: params('api_key_id'),
    success: noContent,
    errors: ['accounts_disabled', 'version_conflict'],
  },
  listAuditLog: {
    ...shared,
    method: 'GET',
    path: '/api/relay/audit-log',
    access: { scope: 'cloud:audit:read' },
    summary: 'Read the audit log',
    query: AuditQuery,
    success: { status: 200, schema: AuditPage },
  },
} as const satisfies RouteTable;
