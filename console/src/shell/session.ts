import { useQuery } from '@tanstack/react-query';
import { get } from '../api/client.ts';
import type { Role, Session } from '../api/types.ts';

export function useSession() {
  return useQuery({ queryKey: ['session'], queryFn: () => get<Session>('/session'), staleTime: 60_000, retry: false });
}

const order: readonly Role[] = ['viewer', 'operator', 'admin'];

/** Whether the person may do what needs this role; the service decides, the console only does not offer the rest. */
export function useMay(role: Role): boolean {
  const { data } = useSession();
  return data !== undefined && order.indexOf(data.role) >= order.indexOf(role);
}
