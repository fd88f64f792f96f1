/** Eight onboarding links test answers of 50 MB at once: how long the node keeps others waiting. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { ask, openInBrowser, openSetup } from '../test/onboard/support.ts';

const links = 8;

export async function run([megabytes = '50']: readonly string[]): Promise<void> {
  const partner = fork(new URL('./samples/partner.ts', import.meta.url), [megabytes]);
  const [port] = (await once(partner, 'message')) as [number];
  const setup = await openSetup();
  try {
    const browsers = [];
    for (let i = 0; i < links; i++) {
      const integration = `brand-${i}`;
      const brand = { brand_id: `B${i}`, timezone: 'Europe/Lisbon', deliver: [] };
      const link = await setup.link({ integration, asks: ['pull'], brand });
      const { browser } = await openInBrowser(setup, link);
      const list = { method: 'GET', path: '/list', from: 'from', to: 'to' };
      const base_url = `http://127.0.0.1:${port}/${integration}`;
      await browser.call('POST', '/pull', { base_url, auth: { type: 'none' }, list });
      browsers.push(browser);
    }
    // The workers and the code are warm.
    await browsers[0]?.call('POST', '/test');
    const delay = monitorEventLoopDelay({ resolution: 5 });
    const turns = longestTurn();
    delay.enable();
    const startedAt = performance.now();
    let isOver = false;
    const others = (async () => {
      const took: number[] = [];
      while (!isOver) {
        const at = performance.now();
        await ask(`${setup.service.url}/api/v1/session`, 'GET');
        took.push(performance.now() - at);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return took.sort((a, b) => a - b);
    })();
    const answers = await Promise.all(browsers.map((browser) => browser.call('POST', '/test')));
    isOver = true;
    const took = await others;
    const statuses = Map.groupBy(answers, ({ status }) => status);
    const at = (share: number) => Math.round(took[Math.floor((took.length - 1) * share)] ?? 0);
    console.log(`${links} tests of ${megabytes} MB at once, ${Math.round(performance.now() - startedAt)} ms`);
    console.log(`  answered ${[...statuses].map(([status, all]) => `${status}: ${all.length}`).join(', ')}`);
    console.log(
      `  another request: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms (${took.length} requests)`,
    );
    console.log(`  the event loop: longest delay ${Math.round(delay.max / 1e6)} ms`);
    console.log(`  the main thread: longest turn ${turns.stop()} ms of its processor time`);
  } finally {
    partner.kill();
    await setup.stop();
  }
}

/** Processor time of the main thread between two turns: other processes do not count, unlike in a delay. */
function longestTurn() {
  const spent = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  let before = spent();
  let longest = 0;
  let isRunning = true;
  const turn = () => {
    const now = spent();
    longest = Math.max(longest, now - before);
    before = now;
    if (isRunning) setImmediate(turn);
  };
  setImmediate(turn);
  return {
    stop: () => {
      isRunning = false;
      return Math.round(longest);
    },
  };
}
