import { spawn } from 'node:child_process';
import { once } from 'node:events';

const LISTENER = 'require("node:net").createServer().listen(process.argv[1], () => console.log("open"))';

/** Leaves a socket file behind as a daemon does that is killed: nobody listens on it, and nobody has taken it away. */
export async function leaveStaleSocket(path: string): Promise<void> {
  const child = spawn(process.execPath, ['-e', LISTENER, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'close');
}
