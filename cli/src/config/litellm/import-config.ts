import type { ConfigFile } from '@relay/contract';
import type { YamlText } from '@relay/contract/config-text';
import { readBudgets } from './read-budgets.ts';
import { type Deployment, readDeployments } from './read-deployments.ts';
import { readRouting } from './read-routing.ts';
import { reasonOf } from './reasons.ts';
import { createResources } from './resources.ts';
import { createSource, type Remark, type Source } from './source.ts';

export interface Imported {
  readonly config: ConfigFile;
  /** Settings without an exact counterpart, in the order of LiteLLM's file. */
  readonly remarks: readonly Remark[];
}

/** Converts LiteLLM's configuration. Every setting is either in the result or in the remarks. */
export function importConfig(yaml: YamlText, variable: (name: string) => string | undefined): Imported {
  const source = createSource(yaml, variable);
  const resources = createResources();
  const deployments: Deployment[] = readDeployments(source, resources, {
    timeoutSeconds: timeoutOf(source),
    concurrency:
      source.takeNumber('general_settings.max_parallel_requests') ??
      source.takeNumber('router_settings.default_max_parallel_requests'),
  });
  readRouting(source, resources, deployments);
  readBudgets(source, resources);
  source.close(reasonOf);
  return { config: resources.file(), remarks: source.remarks() };
}

function timeoutOf(source: Source): number | undefined {
  const [ofRouter, ofModule] = [
    source.takeNumber('router_settings.timeout'),
    source.takeNumber('litellm_settings.request_timeout'),
  ];
  return ofRouter ?? ofModule;
}
