import { type RefObject, useMemo } from 'react';
import { text } from '../../text/index.ts';
import type { Finding } from './config-text.ts';

const words = text.configuration.compare;

const LINE_PX = 20;
const PADDING_PX = 10;
const LINES_MIN = 12;

interface FileEditorProps {
  readonly value: string;
  readonly findings: readonly Finding[];
  readonly area: RefObject<HTMLTextAreaElement | null>;
  readonly onChange: (value: string) => void;
}

/** A text area with line numbers that marks lines with errors. */
export function FileEditor({ value, findings, area, onChange }: FileEditorProps) {
  const lines = useMemo(() => Math.max(LINES_MIN, value.split('\n').length), [value]);
  const numbers = useMemo(() => Array.from({ length: lines }, (_, index) => index + 1).join('\n'), [lines]);
  const faulty = [...new Set(findings.map(({ line }) => line))];
  return (
    <div className="relative max-h-[25rem] overflow-auto rounded-lg border border-line-strong bg-panel font-mono text-xs focus-within:outline-2 focus-within:outline-focus">
      <div className="relative flex min-w-max">
        {faulty.map((line) => (
          <div
            key={line}
            aria-hidden
            className="pointer-events-none absolute inset-x-0 bg-bad-wash"
            style={{ top: PADDING_PX + (line - 1) * LINE_PX, height: LINE_PX }}
          />
        ))}
        <pre
          aria-hidden
          className="sticky left-0 z-10 shrink-0 border-r bg-sunken px-2.5 py-[10px] text-right leading-[20px] text-ink-faint select-none"
        >
          {numbers}
        </pre>
        <textarea
          ref={area}
          aria-label={words.label}
          aria-invalid={findings.length > 0 || undefined}
          placeholder={words.placeholder}
          value={value}
          rows={lines}
          wrap="off"
          spellCheck={false}
          autoCapitalize="off"
          autoCorrect="off"
          onChange={(event) => onChange(event.target.value)}
          className="relative field-sizing-content min-w-64 flex-1 resize-none overflow-x-auto overflow-y-hidden bg-transparent px-3 py-[10px] leading-[20px] whitespace-pre text-ink placeholder:text-ink-faint focus:outline-none"
        />
      </div>
    </div>
  );
}
