import { useEffect, useRef } from 'react';
import { call } from '../../api/client.ts';

/** Puts the line that a hold proposes into the connector, once: the address names the field and its new place. */
export function useProposal(
  { field, path }: { readonly field?: string | undefined; readonly path?: string | undefined },
  source: string,
  onConnector: (text: string) => void,
): void {
  const isDone = useRef(false);
  useEffect(() => {
    if (isDone.current || source === '' || field === undefined || path === undefined) return;
    isDone.current = true;
    void call('map.assign', { connector: source, path, field }).then(({ connector }) => onConnector(connector));
  }, [field, path, source, onConnector]);
}
