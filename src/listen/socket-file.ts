import { once } from 'node:events';
import { lstat, stat, unlink } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';

/** What a new socket's mode leaves out: everyone but its user and group, and the execute bits, so that 0660 is left. */
const FOR_USER_AND_GROUP = 0o117;

/**
 * Makes the socket file and listens on it. The mode is that of the file's first moment: a change afterwards would come too late for
 * whoever connects in between. libuv removes the file when the server closes.
 */
export function listenOnSocket(server: net.Server, file: string): void {
  const before = process.umask(FOR_USER_AND_GROUP);
  try {
    // Binds before it returns; only 'listening' comes later.
    server.listen({ path: file });
  } finally {
    process.umask(before);
  }
}

/**
 * Makes room for a socket: takes away one that nobody listens on any more, as a crash leaves it. Throws where somebody does, and
 * where something stands there that is no socket, which is never removed.
 */
export async function clearSocket(file: string): Promise<void> {
  // libuv reports a folder that is not there as one that may not be written.
  await stat(path.dirname(file));
  const found = await lstat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (found === null) return;
  if (!found.isSocket()) throw new Error('what stands there is no socket; remove it or choose another path');
  if (await isAnswered(file)) throw new Error('another program listens there; stop it or choose another path');
  await unlink(file);
}

/** Knocks: a socket whose program is gone refuses, one whose program is there takes the call or has no room for it. */
async function isAnswered(file: string): Promise<boolean> {
  const socket = net.connect({ path: file });
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ECONNREFUSED' || code === 'ENOENT') return false;
    if (code === 'EAGAIN') return true;
    throw error;
  } finally {
    socket.destroy();
  }
}
