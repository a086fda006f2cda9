import { Play, Square } from 'lucide-react';
import type { FormEvent, KeyboardEvent } from 'react';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { TextArea } from '../../ui/field.tsx';

const words = text.playground;

interface QuestionProps {
  readonly value: string;
  readonly placeholder: string;
  readonly isRunning: boolean;
  readonly onChange: (value: string) => void;
  readonly onSend: () => void;
  readonly onStop: () => void;
}

/** Enter sends; Shift+Enter starts a new line. */
export function Question({ value, placeholder, isRunning, onChange, onSend, onStop }: QuestionProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSend();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    onSend();
  };
  return (
    <form onSubmit={submit} className="flex items-end gap-2">
      <TextArea
        aria-label={words.message}
        rows={2}
        value={value}
        placeholder={placeholder}
        className="min-h-15 flex-1 resize-y"
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={onKeyDown}
      />
      {isRunning ? (
        <Button onClick={onStop}>
          <Square aria-hidden className="size-4" />
          {words.stop}
        </Button>
      ) : (
        <Button type="submit" look="solid" disabled={value.trim() === ''}>
          <Play aria-hidden className="size-4" />
          {words.run}
        </Button>
      )}
    </form>
  );
}
