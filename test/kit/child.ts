/** A child of child-processes.test.ts, which does what its job says. */
import { joinParent } from '../../src/kit/parent-process.ts';

const parent = await joinParent<'exit' | 'crash' | 'report' | 'stay'>();
if (parent.job === 'exit') process.exit(3);
if (parent.job === 'report') await parent.end({ code: 'some.code', message: 'cannot start' });
parent.ready(parent.job);
if (parent.job === 'crash') setImmediate(() => process.kill(process.pid, 'SIGKILL'));
