import { lazy, type ReactNode } from 'react';

/**
 * A component that is loaded when it is needed. While the service does not answer, loading waits. If the service answers and the file
 * cannot be loaded, it was of the build before an upgrade: the page is loaded again, and drafts are kept.
 */
export function patiently<Props>(load: () => Promise<(props: Props) => ReactNode>) {
  return lazy(async () => {
    for (;;) {
      const loaded = await load().catch(() => undefined);
      if (loaded !== undefined) return { default: loaded };
      const isThere = await fetch('/healthz').then(
        ({ ok }) => ok,
        () => false,
      );
      if (isThere) reloadOnce();
      await new Promise((resolve) => setTimeout(resolve, againMs));
    }
  });
}

const againMs = 2_000;

function reloadOnce(): void {
  const last = Number(sessionStorage.getItem('reloaded at'));
  if (Date.now() - last < 60_000) return;
  sessionStorage.setItem('reloaded at', String(Date.now()));
  location.reload();
}
