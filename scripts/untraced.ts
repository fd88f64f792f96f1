/**
 * Imported before the test runner by each process of the suite. The runner follows every promise to the test that made it, so that a stray
 * error fails that test: 300,000 awaits take 2.6 s so, and 0.03 s without. Here a stray error fails the process instead, with its stack. The
 * runner still follows its own tests: without that it would not know the suite of a test or of a hook.
 */
import async_hooks from 'node:async_hooks';

/** A test may wait for what the error has ended. */
const patienceMs = 10_000;

function stray(error: unknown): void {
  console.error(error);
  setTimeout(() => process.exit(1), patienceMs).unref();
}

function withoutTracing(): void {
  const { createHook } = async_hooks;
  // The runner's is the first.
  async_hooks.createHook = (options) => {
    async_hooks.createHook = createHook;
    return createHook({ ...options, trackPromises: false });
  };
  process.on('uncaughtExceptionMonitor', stray);
  process.on('unhandledRejection', stray);
}

// Programs that a test forks get its options too, and end as they would.
if (process.argv[1]?.includes('.test.')) withoutTracing();
