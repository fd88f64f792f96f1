import type { ApiPorts } from '../api/api.ts';
import { dryRunDay } from '../operations/dry-run.ts';
import { fetchSample } from '../operations/fetch-sample.ts';
import { mappingEffect } from '../operations/mapping-effect.ts';
import { offThread } from '../operations/off-thread.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { IntegrationName } from '../terms.ts';

export function studioPorts(runtime: Runtime): ApiPorts['studio'] {
  return {
    preview: ({ integration, ...asked }) => {
      const brand = integration === undefined ? undefined : runtime.active().integrations.get(integration);
      const { spellings } = runtime.active().settings;
      return offThread(runtime, 'preview', { asked, integration: brand?.body, spellings });
    },
    suggest: (sample, name) => offThread(runtime, 'suggest', { sample, name }),
    importDescription: (asked) => offThread(runtime, 'importDescription', asked),
    assign: (wanted) => offThread(runtime, 'assign', wanted),
    effect: (integration, connector) => mappingEffect(runtime, integration, connector),
    dryRun: (integration, day) => dryRunDay(runtime, integration, day),
    fetchPage: (integration) => fetchSample(runtime, integration as IntegrationName),
  };
}
