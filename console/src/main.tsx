import './styles/all.css';
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { Problem } from './api/client.ts';
import { Toasts } from './parts/toast.tsx';
import { router } from './router.tsx';
import { theme } from './theme.ts';

const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
// Libraries that create style elements look for the nonce here.
Object.assign(globalThis, { __webpack_nonce__: nonce });

// A file that cannot be loaded is handled where it is needed (patiently.tsx).
addEventListener('vite:preloadError', (event) => event.preventDefault());

const queries = new QueryClient({
  defaultOptions: {
    // Without a network a request fails and says so. The default waits, and would send an action later, unasked.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      staleTime: 1_000,
      retry: (count, error) => count < 2 && !(error instanceof Problem && error.status >= 400 && error.status < 500),
    },
  },
});

const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce}>
      <QueryClientProvider client={queries}>
        <Toasts>
          <RouterProvider router={router} />
        </Toasts>
      </QueryClientProvider>
    </MantineProvider>,
  );
}
