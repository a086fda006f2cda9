import { after, afterEach, before } from 'node:test';
import { reportFigures } from '../harness/figures.ts';
import { describeAiSdk } from './ai-sdk.ts';
import { describeAnthropic } from './anthropic.ts';
import { type ClientDeployment, startClientDeployment } from './client-deployment.ts';
import { describeLangChain } from './langchain.ts';
import { describeMatrix, type MatrixFigures } from './matrix/matrix.ts';
import { describeOpenAiContent } from './openai-content.ts';
import { describeOpenAiFailures } from './openai-failures.ts';
import { describeOpenAiResponses } from './openai-responses.ts';
import { describeRetryHints, type RetryFigures } from './retry-hints.ts';
import { describeTranslated } from './translated.ts';

// The client libraries that applications use, as they are published, pointed at the gateway.

let deployment: ClientDeployment;
const matrix: MatrixFigures = { cells: 0, failed: 0, refused_with_cure: 0 };
const retries: RetryFigures = { errors: 0, repeated: { openai: 0, anthropic: 0, ai: 0 } };
let passed = 0;
let failed = 0;

before(async () => {
  deployment = await startClientDeployment();
});
after(async () => {
  await deployment.stop();
  reportFigures({ ...matrix, ...retries, tests: passed + failed, tests_failed: failed });
});
afterEach((test) => {
  if ('passed' in test && test.passed) passed += 1;
  else failed += 1;
});

describeOpenAiContent(() => deployment);
describeOpenAiResponses(() => deployment);
describeOpenAiFailures(() => deployment);
describeAiSdk(() => deployment);
describeLangChain(() => deployment);
describeAnthropic(() => deployment);
describeTranslated(() => deployment);
describeMatrix(matrix);
describeRetryHints(retries);
