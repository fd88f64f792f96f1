import { type Answer, call } from '../../api/client.ts';
import { useAct } from '../../api/query.tsx';

export const isConnectorName = (text: string): boolean => /^[a-z0-9][a-z0-9-]{0,60}$/.test(text);

/** OpenAPI, Swagger or Postman, as JSON or YAML. */
const isDescription = (text: string): boolean =>
  /^\s*(?:"?(?:openapi|swagger)"?\s*:|[\s\S]{0,400}"_postman_id")|^\s*\{\s*"(?:openapi|swagger)"/m.test(
    text.slice(0, 2_000),
  );

/** Asks for a connector that reads the sample; what is pasted may also be an API description. */
export function useSuggest(
  sample: string,
  name: string,
  onConnector: (text: string, imported?: Answer<'map.import'>) => void,
) {
  return useAct(
    async () =>
      isDescription(sample)
        ? { imported: await call('map.import', { description: sample, name }) }
        : { made: await call('map.suggest', { sample, name }) },
    ({ imported, made }) => {
      onConnector((imported ?? made)?.connector ?? '', imported);
      return 'A first mapping. Check it: it was inferred from names and values.';
    },
  );
}
