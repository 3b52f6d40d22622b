import path from 'node:path';

/** The checkout. */
export const ROOT = path.join(import.meta.dirname, '../..');

/** The programs that are measured, or that others are measured by, each a process of its own. */
export const SERVERS = path.join(ROOT, 'bench/servers');
