import { holdSignals } from './daemon/held-signals.ts';
import { keepTickShape } from './daemon/tick-shape.ts';

// Before anything else is loaded: until somebody listens, these end the process, and an init system may send them at any time.
const early = process.argv[2] === 'serve' ? holdSignals(['SIGHUP', 'SIGUSR2']) : [];
// Before V8 collects its heap for the first time, which it does while it loads the rest.
keepTickShape();

const { runProgram } = await import('./program.ts');
process.exitCode = await runProgram(early);
