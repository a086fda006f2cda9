import { resultOf, type StepInput } from './scenarios.ts';

/** A tool that keeps what it was called with. */
export function collector() {
  const inputs: StepInput[] = [];
  return {
    inputs,
    execute(input: StepInput): Promise<string> {
      inputs.push(input);
      return Promise.resolve(resultOf(input));
    },
  };
}
