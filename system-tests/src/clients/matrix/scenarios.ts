/** What a client is made to do. */
export const scenarios = ['tools', 'structured', 'image', 'thinking'] as const;
export type Scenario = (typeof scenarios)[number];

/** Turns in which the model calls tools, before the last one. */
const TURNS: Readonly<Record<Scenario, number>> = { tools: 20, thinking: 4, structured: 0, image: 0 };

export const STRUCTURED = { city: 'Zürich', days: 3 };
/** A PNG of one pixel. */
export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

/** What the client says first. The mark tells the model what to play. */
export function promptOf(scenario: Scenario): string {
  return `Please do the task [[${scenario}]] step by step: “größe” 😀.`;
}

/** What the client has in the end, if nothing was lost on the way. */
export interface Outcome {
  readonly text: string;
  /** The inputs of all calls, in their order. */
  readonly inputs: readonly StepInput[];
}

export interface StepInput {
  readonly step: number;
  readonly part: number;
  readonly note: string;
}

export const TOOL = 'look_up';

export function turnsOf(scenario: Scenario): number {
  return TURNS[scenario];
}

/** The inputs of a step's calls: two in every third step. */
export function inputsOfStep(step: number): StepInput[] {
  const parts = step % 3 === 0 ? [0, 1] : [0];
  return parts.map((part) => ({ step, part, note: `größe “ä” 😀 \\ "q" \n ${step}` }));
}

/** What the tool returns. The number of the step is only here and in the input. */
export function resultOf({ step, part }: StepInput): string {
  return `the result of step ${step} part ${part} is "${(step + 3) ** 5}" ü`;
}

export function expectedOutcome(scenario: Scenario): Outcome {
  const steps = Array.from({ length: turnsOf(scenario) }, (_, step) => step);
  return { text: lastWords(scenario), inputs: steps.flatMap(inputsOfStep) };
}

export function lastWords(scenario: Scenario): string {
  switch (scenario) {
    case 'tools':
      return 'All done: “ä” 😀.';
    case 'thinking':
      return 'Thought it through.';
    case 'structured':
      return JSON.stringify(STRUCTURED);
    case 'image':
      return 'I see a pixel.';
  }
}
