import { DEPLOYMENT_USER_ID, OrgUpdate, type Session } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { take } from '../../api/client.ts';
import { cacheKeys, capabilitiesQuery, sessionQuery, signInMethodsQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useChange } from '../../api/use-change.ts';
import { TextField } from '../../forms/fields.tsx';
import { submitting, useContractForm, useFieldErrors } from '../../forms/use-contract-form.ts';
import { LimitsDeletedWith } from '../../parts/deleted-limits.tsx';
import { LeaveDialog } from '../../session/leave-dialog.tsx';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { CopiedValue } from '../../ui/copied-value.tsx';
import { DetailList } from '../../ui/detail-list.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { SaveButton } from './save-button.tsx';
import { SettingPanel } from './setting-panel.tsx';

const words = text.settings.organization;

/** The organization and its deployment. */
export function OrganizationSection() {
  const { data: session } = useQuery(sessionQuery(useApi()));
  if (session === undefined) return null;
  const role = text.members.roles[session.role];
  const others = session.orgs.filter(({ id }) => id !== session.org.id);
  return (
    <>
      <RenamePanel session={session} />
      <SettingPanel title={words.title}>
        <DetailList
          rows={[
            [words.name, session.org.name],
            [words.id, <CopiedValue key="id" value={session.org.id} label={words.copyId} />],
            [
              words.role,
              <span key="role">
                {role.name}
                <span className="block text-xs text-ink-faint">{role.may}</span>
              </span>,
            ],
            ...(others.length === 0
              ? []
              : [[words.others, others.map(({ name }) => name).join(', ')] as const]),
          ]}
        />
      </SettingPanel>
      <DeploymentPanel />
      <DangerZone />
    </>
  );
}

/** For those who may rename it. */
function RenamePanel({ session }: { readonly session: Session }) {
  const { can } = useAccess();
  const form = useContractForm<{ name: string }>(OrgUpdate, { name: session.org.name });
  const save = useChange({
    run: (api, body: { name: string }) => take(api.PATCH('/api/org', { body })),
    stale: [cacheKeys.session],
    said: ({ name }) => words.renamed(name),
    onDone: ({ name }) => form.reset({ name }),
  });
  useFieldErrors(form, save.error);
  if (!can('updateOrg')) return null;
  return (
    <form onSubmit={submitting(form, (values) => save.mutate(values))}>
      <SettingPanel
        title={words.rename}
        actions={<SaveButton busy={save.isPending} disabled={!form.formState.isDirty} />}
      >
        <TextField
          form={form}
          name="name"
          label={words.organizationName}
          hint={words.nameHint}
          autoComplete="organization"
        />
        <ErrorNote error={save.error} />
      </SettingPanel>
    </form>
  );
}

function DeploymentPanel() {
  const api = useApi();
  const { data: capabilities } = useQuery(capabilitiesQuery(api));
  const { data: methods } = useQuery(signInMethodsQuery(api));
  if (capabilities === undefined) return null;
  const ways =
    methods === undefined ? (
      <Skeleton className="mt-0.5 w-40" />
    ) : (
      [
        methods.accounts && words.wayNames.password,
        methods.sso && words.wayNames.sso,
        methods.token && words.wayNames.token,
      ]
        .filter((way) => way !== false)
        .join(', ')
    );
  return (
    <SettingPanel title={words.deployment}>
      <DetailList
        rows={[
          [words.mode, text.shell.modes[capabilities.mode]],
          [words.version, capabilities.version],
          [words.ways, ways],
          ...(methods === undefined
            ? []
            : [[words.signUp, methods.sign_up ? words.signUpOpen : words.signUpClosed] as const]),
        ]}
      />
    </SettingPanel>
  );
}

function DangerZone() {
  const api = useApi();
  const { data: session } = useQuery(sessionQuery(api));
  const { data: capabilities } = useQuery(capabilitiesQuery(api));
  const [leaving, setLeaving] = useState(false);
  const isMember = capabilities?.accounts === true && session?.user.id !== DEPLOYMENT_USER_ID;
  if (session === undefined || !isMember) return null;
  return (
    <section className="border-t-2 border-bad">
      <h2 className="border-b py-2 font-semibold text-bad">{words.danger}</h2>
      <div className="flex flex-wrap items-center justify-between gap-3 py-4">
        <div className="min-w-0">
          <p className="text-[13px] font-medium">{words.leave}</p>
          <p className="text-xs text-ink-faint">{words.leaveHint}</p>
        </div>
        <Button size="small" look="danger" onClick={() => setLeaving(true)}>
          {text.members.leave}
        </Button>
      </div>
      {leaving ? (
        <LeaveDialog session={session} onClose={() => setLeaving(false)}>
          {session.user === null ? null : <LimitsDeletedWith id={session.user.id} />}
        </LeaveDialog>
      ) : null}
    </section>
  );
}
