import { call } from '../../api/client.ts';
import { useAct } from '../../api/query.tsx';

export const isConnectorName = (text: string): boolean => /^[a-z0-9][a-z0-9-]{0,60}$/.test(text);

/** Asks for a connector that reads the sample. */
export function useSuggest(sample: string, name: string, onConnector: (text: string) => void) {
  return useAct(
    () => call('map.suggest', { sample, name }),
    (made) => {
      onConnector(made.connector);
      return 'A first mapping. Check it: it was inferred from field names and values.';
    },
  );
}
