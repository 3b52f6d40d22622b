// Loaded into a daemon by --import: measures how late its event loop is. Told `reset` it begins anew; told `read` it answers, in
// milliseconds.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import process from 'node:process';

/** How often it looks; what is measured is how much later than that its timer was run. */
const RESOLUTION_MS = 1;
const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delays.enable();
process.on('message', (order) => {
  if (order === 'reset') {
    delays.reset();
    process.send('begun');
  } else process.send({ p50: late(delays.percentile(50)), p99: late(delays.percentile(99)), max: late(delays.max) });
});
process.channel?.unref();

function late(nanoseconds) {
  return Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
}
