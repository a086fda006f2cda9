import type { Member } from '@relay/contract';
import { text } from '../../text/index.ts';
import { Panel } from '../../ui/page.tsx';
import { roles } from './role-choice.tsx';

const words = text.members;

/** The permissions of each role and the number of its members. */
export function RolesPanel({ members }: { readonly members: readonly Member[] | undefined }) {
  return (
    <Panel title={words.rolesTitle}>
      <dl className="mx-4 divide-y">
        {roles.map((role) => {
          const count = members?.filter((member) => member.role === role).length ?? 0;
          return (
            <div
              key={role}
              className="grid grid-cols-[minmax(0,1fr)_auto] items-baseline gap-x-4 gap-y-0.5 py-2 sm:grid-cols-[7rem_minmax(0,1fr)_auto]"
            >
              <dt className="text-[13px] font-medium">{words.roles[role].name}</dt>
              <dd className="text-[13px] text-ink-soft max-sm:order-last max-sm:col-span-2">
                {words.roles[role].may}
              </dd>
              <dd className="text-xs whitespace-nowrap text-ink-faint tabular-nums">
                {words.memberCount(count)}
              </dd>
            </div>
          );
        })}
      </dl>
    </Panel>
  );
}
