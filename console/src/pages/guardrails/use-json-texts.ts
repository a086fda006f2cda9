import type { Guardrail, ResponseRule } from '@relay/contract';
import { useState } from 'react';
import { text } from '../../text/index.ts';

const words = text.guardrails.form;

type Own = Pick<Guardrail, 'request_template' | 'response_rules'>;

/** The two settings that are edited as JSON. Empty text means null, the preset's value. */
export interface JsonTexts {
  readonly template: JsonText;
  readonly rules: JsonText;
  /** The parsed values; null if one is invalid, which then shows its error. */
  readonly read: () => Own | null;
}

export interface JsonText {
  readonly value: string;
  readonly set: (value: string) => void;
  readonly error: string | undefined;
}

export function useJsonTexts(initial: Own): JsonTexts {
  const [template, setTemplate] = useState(() => shown(initial.request_template));
  const [rules, setRules] = useState(() => shown(initial.response_rules));
  const [isRead, setRead] = useState(false);
  const templateFault = isRead ? faultOf(template, words.notObject, isObject) : undefined;
  const rulesFault = isRead ? faultOf(rules, words.notList, Array.isArray) : undefined;
  return {
    template: { value: template, set: setTemplate, error: templateFault },
    rules: { value: rules, set: setRules, error: rulesFault },
    read: () => {
      setRead(true);
      if (faultOf(template, words.notObject, isObject) ?? faultOf(rules, words.notList, Array.isArray))
        return null;
      return {
        request_template: parsed(template) as Record<string, unknown> | null,
        response_rules: parsed(rules) as ResponseRule[] | null,
      };
    },
  };
}

function shown(value: unknown): string {
  return value === null ? '' : JSON.stringify(value, null, 2);
}

function parsed(json: string): unknown {
  return json.trim() === '' ? null : JSON.parse(json);
}

function faultOf(json: string, otherwise: string, isFit: (value: unknown) => boolean): string | undefined {
  try {
    const value = parsed(json);
    return value === null || isFit(value) ? undefined : otherwise;
  } catch {
    return words.notJson;
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && !Array.isArray(value);
}
