import type { Ground } from '../ground.ts';
import type { SyncType } from '../terms.ts';

export async function runNow(_g: Ground, _i: string, _s: SyncType, _by: string): Promise<void> {}
