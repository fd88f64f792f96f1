import { useApi } from '../api/query.tsx';
import type { Role } from '../api/types.ts';

export const useSession = () => useApi('session.get', {}, { staleMs: 60_000, retry: false });

const order: readonly Role[] = ['viewer', 'operator', 'admin'];

/** Whether to offer actions that need this role. The service enforces roles; the console only hides what would be refused. */
export function useMay(role: Role): boolean {
  const { data } = useSession();
  return data !== undefined && order.indexOf(data.role) >= order.indexOf(role);
}

/** Whether the session is for all brands. Documents, secrets, tokens, erasures and the audit are refused to one that is limited to some. */
export const useSeesAllBrands = (): boolean => useSession().data?.integrations === null;
