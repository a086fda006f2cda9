import { formatCount } from '../../format/numbers.ts';
import { text } from '../../text/index.ts';
import { ErrorFooter } from '../../ui/error-note.tsx';
import type { Finding } from './config-text.ts';

const words = text.configuration.compare;

interface FindingsListProps {
  readonly findings: readonly Finding[];
  /** The server error with these findings, if any. */
  readonly error: Error | null;
  readonly onGo: (finding: Finding) => void;
}

/** The errors of the file; each links to its position. */
export function FindingsList({ findings, error, onGo }: FindingsListProps) {
  return (
    <div role="alert" className="border-l-[3px] border-bad py-0.5 pl-3 text-bad">
      <p className="font-medium">{words.findings(findings.length)}</p>
      <ul className="mt-1.5 space-y-1">
        {findings.map((finding) => (
          <li key={`${finding.offset} ${finding.message}`}>
            <button
              type="button"
              onClick={() => onGo(finding)}
              className="mr-2 font-medium whitespace-nowrap underline underline-offset-2"
            >
              {words.at(formatCount(finding.line), formatCount(finding.column))}
            </button>
            <span className="break-words">{finding.message}</span>
          </li>
        ))}
      </ul>
      {error === null ? null : <ErrorFooter error={error} />}
    </div>
  );
}
