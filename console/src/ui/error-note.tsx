import { ApiError, Explained } from '../errors/api-error.ts';
import { text } from '../text/index.ts';
import { classes } from './class-names.ts';
import { CopyButton } from './copy-button.tsx';

/** The message of an error. */
export function messageOf(error: Error): string {
  const isWorded = error instanceof ApiError || error instanceof Explained;
  return isWorded && error.message !== '' ? error.message : text.errors.unreachable;
}

/** Shows an error next to a form or a button. */
export function ErrorNote({
  error,
  className,
}: {
  readonly error: Error | null;
  readonly className?: string;
}) {
  if (error === null) return null;
  return (
    <div role="alert" className={classes('border-l-[3px] border-bad py-0.5 pl-3 text-bad', className)}>
      <p>{messageOf(error)}</p>
      <ErrorFooter error={error} />
    </div>
  );
}

/** The request ID for support, and a link to the error code's page. */
export function ErrorFooter({ error }: { readonly error: Error }) {
  if (!(error instanceof ApiError)) return null;
  const { code, docUrl, requestId } = error.response;
  return (
    <p className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-1 text-xs opacity-90">
      {docUrl === null ? null : (
        <a href={docUrl} target="_blank" rel="noreferrer" className="font-mono underline">
          {code}
        </a>
      )}
      {requestId === null ? null : (
        <span className="inline-flex items-center gap-1">
          {text.errors.requestId} <code className="font-mono">{requestId}</code>
          <CopyButton value={requestId} label={text.errors.copyRequestId} />
        </span>
      )}
    </p>
  );
}
