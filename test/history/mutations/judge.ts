/** Looks for a broken promise in the program around it and prints the first one as JSON. */
import { openStore } from '../../deliver/support.ts';
import { simulate } from '../../simulation/simulate.ts';
import { checkHistory } from '../check.ts';
import type { Violation } from '../history.ts';
import { tellStory } from '../tell-story.ts';

const mostSeeds = 800;

async function inSimulation(): Promise<Violation | undefined> {
  for (let seed = 1; seed <= mostSeeds; seed++) {
    const [violation] = (await simulate(seed)).violations;
    if (violation) return { ...violation, message: `seed ${seed}: ${violation.message}` };
  }
  return undefined;
}

async function inStore(): Promise<Violation | undefined> {
  const { pool, close } = await openStore();
  try {
    return checkHistory(await tellStory(pool))[0];
  } finally {
    await close();
  }
}

const violation = process.argv[2] === 'store' ? await inStore() : await inSimulation();
process.stdout.write(JSON.stringify({ violation: violation ?? null }), () => process.exit(0));
