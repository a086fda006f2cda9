import type { InvitationCreated } from '@relay/contract';
import { formatDay } from '../../format/times.ts';
import { text } from '../../text/index.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { ShownOnceDialog } from '../../ui/shown-once-dialog.tsx';

const words = text.members;

interface InvitationLinkDialogProps {
  readonly created: InvitationCreated;
  readonly onClose: () => void;
}

/** Shows the invitation link once. */
export function InvitationLinkDialog({ created, onClose }: InvitationLinkDialogProps) {
  const { email_delivery: delivery } = created;
  const { email, expires_at: expiresAt } = created.invitation;
  return (
    <ShownOnceDialog wide title={words.linkTitle} warning={words.linkBody} onClose={onClose}>
      <p className="text-[13px] text-ink-soft">{words.linkFor(email, formatDay(expiresAt))}</p>
      <p data-testid="invitation-delivery" className="text-[13px]">
        {words.delivery[delivery](email)}
      </p>
      <div className="flex flex-wrap items-start gap-2">
        <code
          data-testid="invitation-link"
          title={words.link}
          className="min-w-0 flex-1 rounded-lg border bg-sunken px-3 py-2 font-mono text-[13px] break-all select-all"
        >
          {created.accept_url}
        </code>
        <CopyButton worded value={created.accept_url} label={words.copyLink} />
      </div>
    </ShownOnceDialog>
  );
}
