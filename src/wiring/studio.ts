import type { ApiPorts } from '../api/api.ts';
import { fetchSample } from '../operations/fetch-sample.ts';
import { previewMapping, suggestMapping } from '../operations/preview-mapping.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { IntegrationName } from '../terms.ts';

export function studioPorts(runtime: Runtime): ApiPorts['studio'] {
  return {
    preview: async (asked) => previewMapping(runtime, asked),
    suggest: async (sample, name) => suggestMapping(sample, name),
    fetchPage: (integration) => fetchSample(runtime, integration as IntegrationName),
  };
}
