import { text } from '../text/index.ts';

const words = text.passwordReset;

/** Who can help where Relay sends no email. */
export function NoMail() {
  return (
    <div className="space-y-3 text-[13px] text-ink-soft">
      <p>{words.noMail}</p>
      <code className="block rounded-lg border bg-sunken px-3 py-2 font-mono break-all text-ink select-all">
        {words.command}
      </code>
    </div>
  );
}
