import { keySnippets } from '@relay/contract/client';
import { useQuery } from '@tanstack/react-query';
import { modelsQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { choicesOf, namesIn } from '../../parts/model-choices.ts';
import { useRouting } from '../../parts/use-routing.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { CodeTabs } from '../../ui/code-tabs.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { ShownOnceDialog } from '../../ui/shown-once-dialog.tsx';
import type { NewKey } from './create-key.ts';
import { FirstRequest } from './first-request.tsx';
import { TestRequestButton } from './test-request-button.tsx';
import { useTestRequest } from './use-test-request.ts';

const words = text.keys;
const NO_MODEL = 'MODEL';

/** Shows a new key once; closes after the user confirms saving it. */
export function NewSecretDialog({ created, onClose }: NewSecretDialogProps) {
  const { secret, id, name, scopes } = created;
  const { can } = useAccess();
  const model = useFirstModel();
  const test = useTestRequest(secret);
  const use = { server: window.location.origin, key: secret, model: model ?? NO_MODEL };
  return (
    <ShownOnceDialog
      wide
      title={words.shownTitle(name)}
      savedLabel={words.savedIt}
      actions={
        model !== null && scopes.includes('relay:request') ? (
          <TestRequestButton model={model} request={test} />
        ) : null
      }
      onClose={onClose}
    >
      <div>
        <div className="flex items-center gap-2.5 rounded-lg border border-board-line bg-board py-1.5 pr-1.5 pl-3.5">
          <code
            data-testid="new-key"
            className="min-w-0 flex-1 font-mono text-[13px] break-all text-board-ink select-all"
          >
            {secret}
          </code>
          <CopyButton worded value={secret} label={words.copyKey} />
        </div>
        <p className="mt-1.5 text-xs text-ink-faint">{words.shownBody}</p>
      </div>
      <div>
        <CodeTabs label={words.use} samples={keySnippets(use)} copyLabel={words.copyExample} />
        {model === null ? <p className="mt-1.5 text-xs text-ink-faint">{words.noModel(NO_MODEL)}</p> : null}
      </div>
      {can('streamRequests') ? <FirstRequest keyId={id} /> : null}
      <ErrorNote error={test.error} />
    </ShownOnceDialog>
  );
}

interface NewSecretDialogProps {
  readonly created: NewKey;
  readonly onClose: () => void;
}

/** The first lane that can answer the test request, else the first such model; null without any. */
function useFirstModel(): string | null {
  const { can } = useAccess();
  const { data } = useQuery({ ...modelsQuery(useApi()), enabled: can('listModels') });
  const { routing, isLoading } = useRouting();
  if (data === undefined || isLoading) return null;
  return namesIn(choicesOf(data, routing)('chat'))[0] ?? null;
}
