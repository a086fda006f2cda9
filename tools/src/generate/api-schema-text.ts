/** The part of JSON Schema that the contract's document uses. */
export interface ApiSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly ApiSchema[];
  readonly items?: ApiSchema;
  readonly properties?: Readonly<Record<string, ApiSchema>>;
  readonly patternProperties?: Readonly<Record<string, ApiSchema>>;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
}

/** The name of the schema that a reference leads to. */
export function refName(schema: ApiSchema): string | null {
  return schema.$ref?.slice(schema.$ref.lastIndexOf('/') + 1) ?? null;
}

/** A link to the section that `apiTypeHeading` opens. */
function apiTypeLink(name: string): string {
  return `[${name}](#${name.toLowerCase()}-object)`;
}

export function apiTypeHeading(name: string): string {
  return `### ${name} object`;
}

/** The type of a value as one phrase: `string or null`, `array of Lane`. */
export function typeText(schema: ApiSchema): string {
  const name = refName(schema);
  if (name !== null) return apiTypeLink(name);
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(literal).join(', ');
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeText))].join(' or ');
  if (schema.type === 'array') return `array of ${typeText(schema.items ?? {})}`;
  const values = Object.values(schema.patternProperties ?? {})[0];
  if (values !== undefined) return `map of ${typeText(values)}`;
  return schema.format === undefined ? (schema.type ?? 'any value') : `${schema.type} (${schema.format})`;
}

/** What a field's description, bounds and default say, as one cell. */
export function fieldNotes(schema: ApiSchema): string {
  const inner = schema.anyOf?.find(({ type }) => type !== 'null') ?? schema;
  const notes = [schema.description ?? inner.description ?? '', boundsText(inner)];
  if (schema.default !== undefined) notes.push(`Default: ${literal(schema.default)}.`);
  return plainText(notes.filter((note) => note !== '').join(' '));
}

function boundsText({ minimum, maximum, minLength, maxLength, maxItems }: ApiSchema): string {
  const notes = [
    rangeText(minimum, maximum, ''),
    rangeText(minLength, maxLength, ' characters'),
    rangeText(undefined, maxItems, ' items'),
  ];
  return notes.filter((note) => note !== '').join(' ');
}

function rangeText(least: number | undefined, most: number | undefined, unit: string): string {
  // The largest exact integer bounds nothing that a reader would write.
  const max = most === undefined || most >= Number.MAX_SAFE_INTEGER ? undefined : shown(most);
  if (max === undefined) {
    if (least === undefined || least === 0) return '';
    return `At least ${shown(least)}${least === 1 ? unit.replace(/s$/, '') : unit}.`;
  }
  return least === undefined || least === 0 ? `At most ${max}${unit}.` : `${shown(least)} to ${max}${unit}.`;
}

function shown(value: number): string {
  return value.toLocaleString('en-US');
}

function literal(value: unknown): string {
  return `\`${JSON.stringify(value)}\``;
}

/** Outside of code, `<` would open an element. */
function plainText(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith('`') ? part : part.replaceAll('<', '&lt;')))
    .join('')
    .replaceAll('\n', ' ');
}
