import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import type { TestRequest } from './use-test-request.ts';

const words = text.keys.firstRequest;

interface TestRequestButtonProps {
  readonly model: string;
  readonly request: TestRequest;
}

/** Sends one short request with the new key. The first request shows how it ended. */
export function TestRequestButton({ model, request }: TestRequestButtonProps) {
  return (
    <Button title={words.testHint(model)} busy={request.isPending} onClick={() => request.mutate(model)}>
      {words.test}
    </Button>
  );
}
