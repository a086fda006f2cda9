// The bare engine: the body is spliced, nothing else is done.
import { runEngine } from './engine.ts';
import { spliceModel } from './splice-model.ts';

await runEngine(spliceModel);
